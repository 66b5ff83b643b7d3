import { isBridgeError } from "../contract/bridge-error.ts";
import type { TaskRecord } from "../contract/task-record.ts";
import type { CreateOptions } from "../contract/task-store.ts";
import { aboutTask } from "./audit.ts";
import { cancelTask } from "./cancel-task.ts";
import type { EngineContext } from "./engine-context.ts";
import { isStoreAway, pause, untilStored } from "./until-stored.ts";

/** A caller waits at most about this long (milliseconds) for a store that is away. */
const callerWaitsMs = 3_000;
/** A write whose answer was lost may be carried out a little later: so long after (milliseconds) it is looked for. */
const lateWritesMs: readonly number[] = [0, 2_000, 10_000];
/** Longer than a removal takes (milliseconds). */
const removalMs = 10_000;
/** How long a store that is away is waited for, to withdraw what it may hold (milliseconds). */
const withdrawForMs = 600_000;

/**
 * Creates a record although the store's answer may get lost: the repetition then finds it. Rejects with `unavailable` while
 * the store is away; what it may hold nevertheless is withdrawn once it is back, since its caller has no handle.
 */
export const createSurely = async (
  engine: EngineContext,
  record: Omit<TaskRecord, "revision">,
  options: CreateOptions,
): Promise<TaskRecord> => {
  let mayExist = false;
  const create = async (): Promise<TaskRecord> => {
    try {
      return await engine.store.create(record, options);
    } catch (error) {
      mayExist ||= isStoreAway(error);
      const isTaken = isBridgeError(error) && error.code === "conflict" && error.data?.taskId === record.taskId;
      const held = mayExist && isTaken ? await engine.store.read(record.taskId) : undefined;
      if (held?.startKey === record.startKey) return held;
      throw error;
    }
  };
  try {
    return await untilStored(engine, callerWaitsMs, create);
  } catch (error) {
    // One with a key is found by whoever calls again, and goes on.
    if (isStoreAway(error) && options.uniqueKeys.length === 0) engine.background(withdraw(engine, record));
    throw error;
  }
};

const withdraw = async (engine: EngineContext, { taskId, startKey }: Omit<TaskRecord, "revision">): Promise<void> => {
  for (const afterMs of lateWritesMs) {
    if (afterMs > 0) await pause(engine, afterMs);
    if (engine.closing.aborted) return;
    const held = await untilStored(engine, withdrawForMs, () => engine.store.read(taskId));
    if (held?.startKey !== startKey) continue;
    const reason = "the store was away when its caller was answered";
    if (isUntouched(held, engine.store.now())) {
      await engine.store.remove(taskId);
      engine.hub.publish(taskId, undefined);
    } else await cancelTask(engine, taskId, { operator: true }, { reason, latch: true });
    engine.audit({ kind: "start_refused", ...aboutTask(held), message: reason });
    return;
  }
};

/** Nothing was sent, nor will another process send it while it is being removed. */
const isUntouched = ({ effects }: TaskRecord, now: number): boolean =>
  effects.some(({ kind, attempts, notBefore }) => kind === "start" && attempts === 1 && now + removalMs < notBefore);
