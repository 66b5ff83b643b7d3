import { type BridgeError, isBridgeError, retryability } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import type { Access } from "../context/ownership.ts";
import { cancelKnown } from "../state/cancel-task.ts";
import { auditAttempt, retryMs } from "../state/effect-attempt.ts";
import { isForeign, keepEffects, withClaimedEffect, withEffectDelayed } from "../state/effects.ts";
import { resolveTask } from "../state/resolve-task.ts";
import { reviseTask } from "../state/revise-task.ts";
import { forgetExecution } from "./forget-execution.ts";
import { runDueEffect } from "./run-effect.ts";

/**
 * Frees what an ended task kept, once its time is over, and wakes who waits for it. The record itself goes as soon as the
 * backend has released its part; until then every verb answers that the task has expired. `deleted`: whatever the time,
 * and every verb answers as if there were none. `refusal`: why the backend has not released its part yet.
 */
export const expireTask = async (
  engine: EngineContext,
  record: TaskRecord,
  why: "expired" | "deleted" = "expired",
  refusal?: BridgeError,
): Promise<TaskRecord | undefined> => {
  let isNew = false;
  const expired = await reviseTask(
    engine,
    record.taskId,
    (current) => {
      isNew = false;
      const now = engine.store.now();
      const isDue =
        why === "deleted"
          ? current.deleted !== true
          : current.expired !== true && current.expiresAt !== undefined && current.expiresAt <= now;
      if (!isDue || !isEnded(current.state)) return undefined;
      isNew = true;
      const { output: _output, ...rest } = current;
      // What must still be stopped at the backend stays in the outbox; nothing else matters any more.
      const stopping = keepEffects(
        { ...rest, expired: true, ...(why === "deleted" ? { deleted: true } : {}), questions: [] },
        (effect) => current.slotHeld && (effect.kind === "cancel" || effect.kind === "start"),
      );
      const keepsInput = stopping.effects.some((effect) => effect.kind === "start");
      const left = refusal === undefined || stopping.slotHeld ? stopping : withRefusal(engine, stopping, refusal);
      return { record: left, dropPayloads: keepsInput ? ["output"] : "all" };
    },
    record,
  );
  if (isNew && expired !== undefined) {
    engine.audit({ kind: why === "deleted" ? "task_deleted" : "task_expired", ...aboutTask(expired) });
  }
  return expired;
};

/** Puts the last effect of a record off, whose first attempt has failed. */
const withRefusal = (engine: EngineContext, record: TaskRecord, { message, retryAfterMs }: BridgeError): TaskRecord => {
  const notBefore = engine.store.now() + retryMs(engine, 1, retryAfterMs);
  const claimed = withClaimedEffect(record, { kind: "forget" }, notBefore);
  return withEffectDelayed(claimed, `e${claimed.minted}`, notBefore, message);
};

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
      auditAttempt(engine, "effect_failed", record, firstForget, refusal);
      return expireTask(engine, record, "expired", refusal);
    }
    auditAttempt(engine, "effect_dropped", record, firstForget, refusal);
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

/** The release that is tried before the record holds an effect for it. */
const firstForget = { kind: "forget", attempts: 1 };

/** See `TaskEngine.deleteTask`. */
export const deleteTask = async (engine: EngineContext, id: unknown, access: Access): Promise<void> => {
  const record = await resolveTask(engine, id, access);
  const ended = isEnded(record.state)
    ? record
    : await cancelKnown(engine, record, access, { reason: "deleted by its owner", isFinal: true });
  const expired = await expireTask(engine, ended, "deleted");
  const forget = expired?.effects.find((effect) => effect.kind === "forget");
  if (expired !== undefined && forget !== undefined) await runDueEffect(engine, expired, forget.id);
};
