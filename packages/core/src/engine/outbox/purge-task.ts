import { type BridgeError, isBridgeError, retryability } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { isForeign } from "../state/effects.ts";
import { forgetExecution } from "./forget-execution.ts";
import { expireTask } from "./retention.ts";

/** Whether the time of an ended task is over, and nobody has expired it yet. */
export const isOver = ({ state, expiresAt, expired }: TaskRecord, now: number): boolean =>
  isEnded(state) && expired !== true && expiresAt !== undefined && expiresAt <= now;

/**
 * Does away with a task whose time is over: by the one write that removes it, where nothing has to be stopped any more and the
 * backend lets go at once. What was changed meanwhile is looked at anew. A crash in between leaves a record that is still due, and a backend
 * that is told again. Resolves with the record as it is where it must stay for now, expired; with undefined where it is gone, or this process is closing.
 */
export const purgeTask = async (engine: EngineContext, record: TaskRecord): Promise<TaskRecord | undefined> => {
  if (record.slotHeld || record.effects.some(isForeign)) return expireTask(engine, record);
  const refusal = await forgetExecution(engine, record);
  if (refusal !== undefined) {
    if (engine.closing.aborted) return undefined;
    if (retryability[refusal.code] !== "never") {
      auditRefusal(engine, "effect_failed", record, refusal);
      return expireTask(engine, record, "expired", refusal);
    }
    auditRefusal(engine, "effect_dropped", record, refusal);
  }
  try {
    const wasThere = await engine.store.remove(record.taskId, record.revision);
    engine.hub.publish(record.taskId, undefined);
    // Another process has removed it first, and audited that.
    if (!wasThere) return undefined;
  } catch (error) {
    if (!isBridgeError(error) || error.code !== "conflict") throw error;
    return expireTask(engine, record);
  }
  engine.audit({ kind: "task_expired", ...aboutTask(record) });
  engine.audit({ kind: "task_removed", ...aboutTask(record) });
  return undefined;
};

const auditRefusal = (
  engine: EngineContext,
  kind: "effect_failed" | "effect_dropped",
  record: TaskRecord,
  { message }: BridgeError,
): void => engine.audit({ kind, ...aboutTask(record), message, fields: { effect: "forget", attempt: 1 } });
