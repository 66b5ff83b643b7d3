import { type BridgeError, retryability } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import type { StartPromise } from "../../contract/workflow-adapter.ts";
import { aboutTask } from "../context/audit.ts";
import { requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { applyTransition } from "../state/apply-transition.ts";
import { auditAttempt, retryMs } from "../state/effect-attempt.ts";
import { backOffMs, keepEffects, withEffect, withEffectDelayed, withoutEffect } from "../state/effects.ts";
import { hasExecutionEnded, unchanged } from "../state/transitions.ts";
import { concludeStart, failUnstarted, giveUpStart, lastOverAt } from "./fail-start.ts";

export type StartEffect = Extract<Effect, { kind: "start" }>;

/** A start that the backend refuses for good. Nothing runs. */
export interface StartRefused {
  readonly refused: BridgeError;
}

/** What the start of a claimed effect came to; undefined: settled, one way or another, in the record. */
export type StartResult = StartRefused | undefined;

/** Ends a task whose start the backend refused after the task had been handed out, or has it looked for what an earlier send came to. */
export const failRefusedStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Effect,
  error: BridgeError,
): Promise<void> => {
  engine.audit({ kind: "start_refused", ...aboutTask(record), message: error.message });
  await concludeStart(engine, record, effect, (current) => {
    const text = `the backend refused the start: ${error.message}`;
    // The note of the refused send itself is taken back by then, so this is an earlier one. Where something else has the key, it has not arrived.
    return current.start.firstSentAt === undefined || error.code === "conflict"
      ? failUnstarted(withoutEffect(current, effect.id), "start_refused", text, engine.store.now())
      : giveUpStart(engine, current, effect, text);
  });
};

/** Writes down what comes of a send that failed. `record`: as it was sent. */
export const applyStartError = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  error: BridgeError,
  promise: StartPromise,
): Promise<StartResult> => {
  // A backend that refuses for its rate has not accepted.
  const certain = error.notSent || error.code === "throttled";
  if (retryability[error.code] === "never") {
    return (await forgetSend(engine, record, effect)) ? { refused: error } : undefined;
  }
  const isOurs =
    certain || promise.kind === "idempotent"
      ? await retryStart(engine, record, effect, error, certain)
      : await doubtStart(engine, record, effect, error, promise);
  if (!isOurs && !certain) await findAgain(engine, record);
  return undefined;
};

const doubtStart = (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  error: BridgeError,
  promise: StartPromise,
): Promise<boolean> => {
  auditAttempt(engine, "effect_failed", record, effect, error);
  const visibilityDelayMs = promise.kind === "findable" ? Math.min(promise.visibilityDelayMs, 1_000) : 0;
  // It may be sent again although it may have arrived: not in a hurry.
  const pauseMs = record.policy.onUnknownStart === "restart" ? backOffMs(effect.attempts, 1, error.retryAfterMs) : 0;
  return delayStart(engine, record, effect, Math.max(visibilityDelayMs, pauseMs), error, false);
};

/**
 * Somebody waits for a start, and it has a deadline: it is not left alone for minutes because the connection broke a few
 * times. After so many attempts the pause, 8 to 16 s, grows no more.
 */
const growingAttempts = 6;

const retryStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  error: BridgeError,
  certain: boolean,
): Promise<boolean> => {
  engine.audit({
    kind: "start_retried",
    ...aboutTask(record),
    message: error.message,
    fields: { attempt: effect.attempts, notSent: certain },
  });
  const attempts = Math.min(effect.attempts, growingAttempts);
  const waitMs = retryMs(engine, attempts, error.retryAfterMs);
  const now = engine.store.now();
  if (now + waitMs <= record.start.deadlineAt) return delayStart(engine, record, effect, waitMs, error, certain);
  return concludeStart(engine, record, effect, (current) => {
    const settled = withSendOver(current, record, now, certain);
    const why = `the backend did not accept the start in time: ${error.message}`;
    return settled.start.firstSentAt === undefined
      ? failUnstarted(withoutEffect(settled, effect.id), "start_deadline", why, now)
      : giveUpStart(engine, settled, effect, why);
  });
};

/** Puts a start off. `notArrived`: its last send certainly has not arrived. */
const delayStart = (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  waitMs: number,
  error: BridgeError,
  notArrived: boolean,
): Promise<boolean> =>
  concludeStart(engine, record, effect, (current) => {
    const now = engine.store.now();
    const settled = withSendOver(current, record, now, notArrived);
    return unchanged(withEffectDelayed(settled, effect.id, now + waitMs, error.message));
  });

/**
 * Notes that a send is over; or takes back the note that one may have arrived, when it certainly has not and was the only one. `sent`: as
 * it was sent.
 */
const withSendOver = (record: TaskRecord, sent: TaskRecord, now: number, notArrived: boolean): TaskRecord => {
  const { firstSentAt, lastSentAt } = sent.start;
  if (lastSentAt !== record.start.lastSentAt) return record;
  const isWithdrawn = notArrived && firstSentAt === lastSentAt;
  return {
    ...record,
    start: isWithdrawn ? { deadlineAt: record.start.deadlineAt } : { ...record.start, lastOverAt: now },
  };
};

const forgetSend = (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<boolean> =>
  concludeStart(engine, record, effect, (current) => {
    const now = engine.store.now();
    const later = now + engine.limits.callTimeoutMs;
    return unchanged(withEffectDelayed(withSendOver(current, record, now, true), effect.id, later));
  });

/**
 * After a send of a process that was stopped in it: another one may have looked in vain meanwhile, and ended the task. What arrived after
 * that is looked for anew. `sent`: as it was sent.
 */
const findAgain = async (engine: EngineContext, sent: TaskRecord): Promise<void> => {
  if (requireAdapter(engine, sent.adapterId).find === undefined) return;
  await applyTransition(engine, sent.taskId, (current) => {
    if (current.ref !== undefined || hasExecutionEnded(current)) return undefined;
    const now = engine.store.now();
    const overAt = Math.max(now, lastOverAt(current, engine.limits.callTimeoutMs));
    const seen = { ...current, start: { ...sent.start, ...current.start, lastOverAt: overAt } };
    if (current.effects.some(({ kind }) => kind === "start")) return unchanged(withNewAttempt(seen));
    // Not ended without a start to settle: news has told of it, and goes on doing so.
    if (!isEnded(current.state)) return undefined;
    const held = { ...keepEffects(seen, ({ kind }) => kind !== "forget"), slotHeld: true };
    return unchanged(withEffect(held, { kind: "start" }, now));
  });
};

/** So that whoever looks at the moment draws no conclusion from what it read before. */
const withNewAttempt = (record: TaskRecord): TaskRecord => ({
  ...record,
  effects: record.effects.map((effect) =>
    effect.kind === "start" ? { ...effect, attempts: effect.attempts + 1 } : effect,
  ),
});
