import { type BridgeError, retryability, toBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import { callAdapter, requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { deliverAnswer, toExecutionQuestion } from "../questions/deliver-answer.ts";
import { failRefusedStart } from "../start/apply-start-error.ts";
import { resumeStart } from "../start/resume-start.ts";
import { auditAttempt, delayEffect, retryMs } from "../state/effect-attempt.ts";
import { callMs, claimEffect, claimMs, maxEffectAttempts, withEffectDelayed, withoutEffect } from "../state/effects.ts";
import { reviseTask } from "../state/revise-task.ts";
import { releaseSlot } from "../state/transitions.ts";
import { captureOutput } from "./capture-output.ts";
import { forgetExecution } from "./forget-execution.ts";

/** Takes an entry of the outbox if it is due and nobody has it, and carries it out. */
export const runDueEffect = async (engine: EngineContext, record: TaskRecord, effectId: string): Promise<void> => {
  let claimed: TaskRecord | undefined;
  const after = await reviseTask(
    engine,
    record.taskId,
    (current) => {
      const now = engine.store.now();
      const entry = current.effects.find(({ id }) => id === effectId);
      const holdMs = claimMs(entry?.kind ?? "start", engine.limits.callTimeoutMs);
      // A beat that a crash took with it must not be missed for longer than the question bears.
      const until = now + (entry?.kind === "heartbeat" ? Math.min(holdMs, entry.everyMs) : holdMs);
      claimed = claimEffect(current, effectId, now, until);
      return claimed === undefined ? undefined : { record: claimed };
    },
    record,
  );
  const effect = after?.effects.find((entry) => entry.id === effectId);
  if (claimed !== undefined && after !== undefined && effect !== undefined)
    await runClaimedEffect(engine, after, effect);
};

/** Carries out an entry that this process has claimed. Rejects only for faults of the store. */
export const runClaimedEffect = async (engine: EngineContext, record: TaskRecord, effect: Effect): Promise<void> => {
  switch (effect.kind) {
    case "start": {
      const result = await resumeStart(engine, record, effect);
      if (result !== undefined) await failRefusedStart(engine, record, effect, result.refused);
      return;
    }
    case "cancel":
      return sendCancel(engine, record, effect);
    case "answer":
      return deliverAnswer(engine, record, effect);
    case "heartbeat":
      return sendHeartbeat(engine, record, effect);
    case "capture":
      return captureOutput(engine, record, effect);
    case "forget":
      return forgetAndRemove(engine, record, effect);
  }
};

/**
 * What becomes of an effect whose call failed: put off where a repetition may help, else dropped. True when it was
 * dropped.
 */
const delayOrDrop = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Effect,
  error: BridgeError,
  attemptsAllowed: number = maxEffectAttempts,
): Promise<boolean> => {
  if (engine.closing.aborted) return false;
  if (retryability[error.code] !== "never" && effect.attempts < attemptsAllowed) {
    auditAttempt(engine, "effect_failed", record, effect, error);
    await delayEffect(engine, record, effect, retryMs(engine, effect.attempts, error.retryAfterMs), error.message);
    return false;
  }
  auditAttempt(engine, "effect_dropped", record, effect, error);
  return true;
};

const sendCancel = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Extract<Effect, { kind: "cancel" }>,
): Promise<void> => {
  const ref = record.ref;
  if (ref === undefined) return;
  const adapter = engine.adapters.get(record.adapterId);
  if (adapter?.cancel === undefined) {
    engine.audit({ kind: "effect_dropped", ...aboutTask(record), message: "this backend cannot stop an execution" });
    await dropCancel(engine, record, effect, "a stop was asked for, but this backend cannot stop an execution");
    return;
  }
  try {
    await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "cancel",
      timeoutMs: callMs("cancel", engine.limits.callTimeoutMs),
      onTimeout: "outcome_unknown",
      record,
      run: async (used, context) => used.cancel?.(ref, effect.reason, context),
    });
  } catch (error) {
    const known = toBridgeError(error);
    if (known.code !== "not_found" && known.code !== "conflict") {
      if (await delayOrDrop(engine, record, effect, known))
        await dropCancel(engine, record, effect, `the execution could not be stopped: ${known.message}`);
      return;
    }
  }
  engine.audit({ kind: "cancel_sent", ...aboutTask(record) });
  const revised = await reviseTask(engine, record.taskId, (current) => {
    // It has become something else meanwhile (a queue item, a build), which may not have been told.
    if (current.ref !== ref) return { record: withEffectDelayed(current, effect.id, engine.store.now()) };
    const cancel =
      current.cancel === undefined ? {} : { cancel: { ...current.cancel, deliveredAt: engine.store.now() } };
    const isSilent = adapter.inspect === undefined && adapter.traits.cancel === "confirmed" && isEnded(current.state);
    const confirmed = { ...withoutEffect(current, effect.id), ...cancel };
    return { record: isSilent ? releaseSlot(confirmed) : confirmed };
  });
  if (revised !== undefined) engine.inspectSoon(revised);
};

const dropCancel = (engine: EngineContext, record: TaskRecord, effect: Effect, message: string): Promise<unknown> =>
  reviseTask(engine, record.taskId, (current) => {
    const dropped = withoutEffect(current, effect.id);
    return { record: isEnded(current.state) ? dropped : { ...dropped, message, updatedAt: engine.store.now() } };
  });

const sendHeartbeat = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Extract<Effect, { kind: "heartbeat" }>,
): Promise<void> => {
  const ref = record.ref;
  const question = record.questions.find(
    (entry) => entry.key === effect.questionKey && (entry.state === "open" || entry.state === "answered"),
  );
  const adapter = requireAdapter(engine, record.adapterId);
  const drop = (): Promise<unknown> =>
    reviseTask(engine, record.taskId, (current) => ({ record: withoutEffect(current, effect.id) }));
  if (ref === undefined || question === undefined || adapter.heartbeat === undefined) return void (await drop());
  try {
    const asked = await toExecutionQuestion(engine, record, question);
    await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "heartbeat",
      timeoutMs: Math.min(callMs("heartbeat", engine.limits.callTimeoutMs), effect.everyMs),
      record,
      run: async (used, context) => used.heartbeat?.(ref, asked, context),
    });
    await delayEffect(engine, record, effect, effect.everyMs);
  } catch (error) {
    const known = toBridgeError(error);
    if (engine.closing.aborted) return;
    if (retryability[known.code] === "never") {
      await drop();
      engine.inspectSoon(record);
      return;
    }
    const waitMs = Math.min(Math.max(known.retryAfterMs ?? 0, 1_000), effect.everyMs);
    await delayEffect(engine, record, effect, waitMs, known.message);
  }
};

/** Attempts after which a record is removed although its backend did not release what it keeps. */
const maxForgetAttempts = 10;

const forgetAndRemove = async (engine: EngineContext, record: TaskRecord, effect: Effect): Promise<void> => {
  const refusal = await forgetExecution(engine, record);
  if (refusal !== undefined && !(await delayOrDrop(engine, record, effect, refusal, maxForgetAttempts))) return;
  await engine.store.remove(record.taskId);
  engine.audit({ kind: "task_removed", ...aboutTask(record) });
  engine.hub.publish(record.taskId, undefined);
};
