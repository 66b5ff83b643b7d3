import { isBridgeError } from "../../contract/bridge-error.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { EngineContext } from "../context/engine-context.ts";

/** Removes a record for which nobody but its creator has taken up a start. False: somebody has, also while it was to be removed. */
export const removeUntouched = async (engine: EngineContext, held: TaskRecord): Promise<boolean> => {
  if (!isUntouched(held, engine.store.now())) return false;
  try {
    await engine.store.remove(held.taskId, held.revision);
  } catch (error) {
    if (isBridgeError(error) && error.code === "conflict") return false;
    throw error;
  }
  engine.hub.publish(held.taskId, undefined);
  return true;
};

/** Longer than a removal takes (milliseconds). */
const removalMs = 10_000;

/** Whether nobody but its creator has taken up a record's start, nor will while it is being removed. */
export const isUntouched = ({ ref, effects }: TaskRecord, now: number): boolean =>
  ref === undefined &&
  effects.some(({ kind, attempts, notBefore }) => kind === "start" && attempts === 1 && now + removalMs < notBefore);
