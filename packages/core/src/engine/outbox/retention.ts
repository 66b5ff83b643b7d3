import type { BridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { backOffMs, keepEffects, withClaimedEffect, withEffectDelayed } from "../state/effects.ts";
import { reviseTask } from "../state/revise-task.ts";

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
  const notBefore = engine.store.now() + backOffMs(1, (engine.random(1)[0] as number) / 255, retryAfterMs);
  const claimed = withClaimedEffect(record, { kind: "forget" }, notBefore);
  return withEffectDelayed(claimed, `e${claimed.minted}`, notBefore, message);
};
