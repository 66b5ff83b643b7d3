import { type BridgeError, isBridgeError, isStoreUnavailable } from "../../contract/bridge-error.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { type CreateOptions, maxCreateMs, removedIdReservedMs } from "../../contract/task-store.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { taskNotFound } from "../context/task-id.ts";
import { untilStored } from "../context/until-stored.ts";

/** How long (milliseconds) a store that is away is tried again for a caller, who waits for the last try as well. */
const callerWaitsMs = 3_000;

/** After so long (milliseconds) nothing is repeated: what begins then may be carried out when a removed ID is free again. */
const repeatedForMs = (removedIdReservedMs - maxCreateMs) / 2;

/**
 * Creates a record although the store's answer may get lost: the repetition then finds it. Rejects with `unavailable` while
 * the store is away; what it may hold nevertheless is withdrawn once it is back, since its caller has no handle. Rejects with
 * `not_found` for a task that was removed before its creation was answered: it is not created again. `makeRoom` is called once
 * when a limit is reached, and the create is then tried again.
 */
export const createWithRetry = async (
  engine: EngineContext,
  record: Omit<TaskRecord, "revision">,
  options: CreateOptions,
  makeRoom: (error: BridgeError) => Promise<void>,
): Promise<TaskRecord> => {
  const startedAt = engine.store.now();
  let mayExist = false;
  let hasMadeRoom = false;
  let lost: unknown;
  const create = async (): Promise<TaskRecord> => {
    // Only a process that was frozen comes so late.
    if (mayExist && engine.store.now() > startedAt + repeatedForMs) throw lost;
    try {
      return await engine.store.create(record, options);
    } catch (error) {
      lost = error;
      mayExist ||= isStoreUnavailable(error);
      if (isBridgeError(error) && error.code === "limit_exceeded" && !hasMadeRoom) {
        hasMadeRoom = true;
        await makeRoom(error);
        return create();
      }
      const isTaken = isBridgeError(error) && error.code === "conflict" && error.data?.taskId === record.taskId;
      if (!mayExist || !isTaken) throw error;
      const held = await engine.store.read(record.taskId);
      if (held === undefined) throw taskNotFound();
      if (held.startKey === record.startKey) return held;
      throw error;
    }
  };
  try {
    return await untilStored(engine, callerWaitsMs, create);
  } catch (error) {
    // One with a key is found by whoever calls again, and goes on.
    if (mayExist && options.uniqueKeys.length === 0) engine.withdraw(record);
    throw error;
  }
};
