import { BridgeError, isBridgeError } from "../../contract/bridge-error.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { PayloadName, TaskRecord } from "../../contract/task-record.ts";
import type { Payload } from "../../contract/task-store.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { wakeAtOf, withBegun, withForget } from "./transitions.ts";

/** A changed record, and what is written with it. */
export interface Draft {
  readonly record: TaskRecord;
  readonly payloads?: readonly Payload[];
  readonly dropPayloads?: readonly PayloadName[] | "all";
  /** False where a crash may lose the change, because looking again brings it back. Default true. */
  readonly durable?: boolean;
}

/**
 * Changes a record by compare-and-swap: reads it, lets `change` say what it should become (undefined: nothing), writes it
 * if nobody else has meanwhile, else begins again with what they wrote. Resolves with the record as it then is, or
 * undefined when there is none any more.
 */
export const reviseTask = async (
  engine: EngineContext,
  taskId: TaskId,
  change: (record: TaskRecord) => Draft | undefined,
  known?: TaskRecord,
): Promise<TaskRecord | undefined> => {
  let record = known ?? (await engine.store.read(taskId));
  for (let attempt = 0; attempt < 200; attempt++) {
    if (record === undefined) return undefined;
    const draft = change(record);
    if (draft === undefined) return record;
    const now = engine.store.now();
    const settled = withForget(withBegun(draft.record, now), now);
    const next = { ...settled, wakeAt: wakeAtOf(settled) };
    try {
      const written = await engine.store.revise(next, record.revision, {
        ...(draft.payloads === undefined ? {} : { payloads: draft.payloads }),
        ...(draft.dropPayloads === undefined ? {} : { dropPayloads: draft.dropPayloads }),
        durable: draft.durable ?? true,
      });
      engine.hub.publish(taskId, written);
      return written;
    } catch (error) {
      if (isBridgeError(error) && error.code === "not_found") return undefined;
      if (!isBridgeError(error) || error.code !== "conflict") throw error;
      record = await engine.store.read(taskId);
    }
  }
  throw new BridgeError("unavailable", "the task is being changed by too many others at once; try again");
};
