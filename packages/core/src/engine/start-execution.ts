import { BridgeError, retryability, toBridgeError } from "../contract/bridge-error.ts";
import { isEnded } from "../contract/execution-snapshot.ts";
import type { AdapterId, ExecutionRef } from "../contract/identity.ts";
import type { JsonObject } from "../contract/json-value.ts";
import type { Effect, TaskRecord } from "../contract/task-record.ts";
import type { StartOutcome, StartPromise, WorkflowAdapter } from "../contract/workflow-adapter.ts";
import { applyTransition } from "./apply-transition.ts";
import { aboutTask } from "./audit.ts";
import { callAdapter, requireAdapter } from "./call-adapter.ts";
import { assertSnapshot } from "./check-snapshot.ts";
import { backOffMs, callMs, keepEffects, withEffect, withEffectDelayed, withoutEffect } from "./effects.ts";
import type { EngineContext } from "./engine-context.ts";
import { concludeStart, failUnstarted, giveUpStart } from "./fail-start.ts";
import { fillTemplate } from "./fill-template.ts";
import { readInput } from "./payloads.ts";
import { applySnapshot, hasExecutionEnded, type Transition, unchanged } from "./transitions.ts";

export type StartEffect = Extract<Effect, { kind: "start" }>;

/** A start that the backend refuses for good. Nothing runs. */
export interface StartRefused {
  readonly refused: BridgeError;
}

/** What the start of a claimed effect came to; undefined: settled, one way or another, in the record. */
export type StartResult = StartRefused | undefined;

/** Sends a start for the first time. The record was created with the note that this send may have arrived. */
export const sendFirst = (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<StartResult> =>
  sendStart(engine, record, effect, requireAdapter(engine, record.adapterId).traits.start);

/**
 * Sends a start, which the record must already reckon with, and writes down what comes of it: the ref, a later attempt, or
 * an end.
 */
export const sendStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  promise: StartPromise,
): Promise<StartResult> => {
  const input = await readInput(engine, record.taskId);
  // Held up until another process may have drawn its conclusions: they must stay true.
  if (input === undefined || engine.store.now() >= effect.notBefore) return undefined;
  try {
    const outcome = await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "start",
      timeoutMs: engine.limits.callTimeoutMs,
      onTimeout: "outcome_unknown",
      record,
      run: (adapter, context) => {
        const target = toTarget(adapter, record, input);
        const request = { key: record.startKey, target, input, attempt: effect.attempts };
        return adapter.start({ ...request, ...earlierSend(record) }, context);
      },
      // Whatever was concluded meanwhile: it runs.
      takeLate: (outcome) => saveStarted(engine, record, outcome),
    });
    await saveStarted(engine, record, outcome);
    return undefined;
  } catch (error) {
    if (engine.closing.aborted) return undefined;
    return takeStartError(engine, record, effect, toBridgeError(error), promise);
  }
};

/** Of a record that is marked with the send at hand: when it was first sent before that. */
const earlierSend = ({ start }: TaskRecord): { readonly firstSentAt?: number } =>
  start.firstSentAt === undefined || start.firstSentAt === start.lastSentAt ? {} : { firstSentAt: start.firstSentAt };

/**
 * The target with the input's values filled in. The adapter took it as it was configured, so what it refuses now is the
 * caller's.
 */
export const toTarget = (adapter: WorkflowAdapter, record: TaskRecord, input: string): unknown => {
  const filled = fillTemplate(record.target, JSON.parse(input) as JsonObject);
  try {
    return adapter.parseTarget(filled);
  } catch (error) {
    const known = toBridgeError(error);
    throw new BridgeError("invalid_input", `with these arguments the target is refused: ${known.message}`, {
      notSent: true,
      ...(known.data === undefined ? {} : { data: known.data }),
      cause: error,
    });
  }
};

/** Saves the ref whatever has happened meanwhile. An execution that nobody wants any more is stopped by an effect. */
export const saveStarted = async (
  engine: EngineContext,
  record: Pick<TaskRecord, "taskId" | "adapterId">,
  outcome: StartOutcome,
): Promise<void> => {
  let isNews = false;
  const saved = await applyTransition(engine, record.taskId, (current) => {
    isNews = current.ref === undefined;
    return startedTransition(engine, current, withUsableSnapshot(engine, current, outcome));
  });
  if (saved !== undefined) {
    if (isNews) engine.audit({ kind: "start_accepted", ...aboutTask(saved) });
    if (saved.ref !== outcome.ref) engine.lookSoon(saved);
    // A stop that waited for the ref.
    if (saved.effects.some(({ kind }) => kind === "cancel")) engine.serveSoon(saved);
    return;
  }
  engine.audit({
    kind: "unmatched_update",
    ...record,
    execution: outcome.ref,
    message: "the backend accepted the start of a task that was removed meanwhile",
  });
  await stopUnrecorded(engine, record.adapterId, outcome.ref);
};

/** A ref is worth keeping whatever stands beside it. */
const withUsableSnapshot = (engine: EngineContext, record: TaskRecord, outcome: StartOutcome): StartOutcome => {
  if (outcome.snapshot === undefined) return outcome;
  try {
    assertSnapshot(record, outcome.snapshot);
    return outcome;
  } catch (error) {
    engine.audit({ kind: "internal_error", ...aboutTask(record), message: toBridgeError(error).message });
    return { ref: outcome.ref };
  }
};

const startedTransition = (engine: EngineContext, current: TaskRecord, { ref, snapshot }: StartOutcome): Transition => {
  const isNews = current.ref === undefined;
  const now = engine.store.now();
  // The first one stays: another is an older form of it, or that of a second execution, which only a restart may start.
  const referred: TaskRecord = {
    ...keepEffects(current, ({ kind }) => kind !== "start"),
    ref: current.ref ?? ref,
  };
  const isAboutIt = snapshot !== undefined && referred.ref === ref;
  // What news has told already is younger than the answer to the start, unless that tells an end.
  const { record: seen, ...rest } =
    isAboutIt && (current.execution === undefined || isEnded(snapshot.status))
      ? applySnapshot(referred, snapshot, now, engine.limits.maxReasks)
      : { record: referred, payloads: [], dropPayloads: [], secrets: [] };
  // A slot that was given back for want of a ref is taken again.
  const mayRun = seen.slotHeld || (isNews && !hasExecutionEnded(seen));
  const isUnwanted = mayRun && (isEnded(seen.state) || seen.cancel !== undefined);
  if (!isUnwanted || seen.effects.some(({ kind }) => kind === "cancel")) return { ...rest, record: seen };
  const held: TaskRecord = { ...keepEffects(seen, ({ kind }) => kind !== "forget"), slotHeld: true };
  const reason = seen.cancel?.reason ?? "the task has ended";
  return { ...rest, record: withEffect(held, { kind: "cancel", reason }, now) };
};

/** No record is left to hold an effect, so this one try must do. */
const stopUnrecorded = async (engine: EngineContext, adapterId: AdapterId, ref: ExecutionRef): Promise<void> => {
  try {
    await callAdapter(engine, {
      adapterId,
      operation: "cancel",
      timeoutMs: callMs("cancel", engine.limits.callTimeoutMs),
      onTimeout: "outcome_unknown",
      run: async (adapter, context) => adapter.cancel?.(ref, "its task was removed", context),
    });
  } catch (error) {
    engine.audit({ kind: "effect_dropped", adapterId, execution: ref, message: toBridgeError(error).message });
  }
};

const takeStartError = async (
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
  if (certain || promise.kind === "idempotent") return retryStart(engine, record, effect, error, certain);
  engine.audit({
    kind: "effect_failed",
    ...aboutTask(record),
    message: error.message,
    fields: { effect: "start", attempt: effect.attempts },
  });
  const settleMs = promise.kind === "findable" ? Math.min(promise.settleMs, 1_000) : 0;
  // It may be sent again although it may have arrived: not in a hurry.
  const pauseMs = record.policy.onUnknownStart === "restart" ? backOffMs(effect.attempts, 1, error.retryAfterMs) : 0;
  await delayStart(engine, record, effect, Math.max(settleMs, pauseMs), error, false);
  return undefined;
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
): Promise<undefined> => {
  engine.audit({
    kind: "start_retried",
    ...aboutTask(record),
    message: error.message,
    fields: { attempt: effect.attempts, notSent: certain },
  });
  const attempts = Math.min(effect.attempts, growingAttempts);
  const waitMs = backOffMs(attempts, (engine.random(1)[0] as number) / 255, error.retryAfterMs);
  const now = engine.store.now();
  if (now + waitMs <= record.start.deadlineAt) {
    await delayStart(engine, record, effect, waitMs, error, certain);
    return undefined;
  }
  await concludeStart(engine, record, effect, (current) => {
    const settled = certain ? withoutSend(current, record) : current;
    const why = `the backend did not accept the start in time: ${error.message}`;
    return settled.start.firstSentAt === undefined
      ? failUnstarted(withoutEffect(settled, effect.id), "start_deadline", why, now)
      : giveUpStart(engine, settled, effect, why);
  });
  return undefined;
};

/** Puts a start off. `notArrived`: its last send certainly has not arrived. */
export const delayStart = (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  waitMs: number,
  error: BridgeError,
  notArrived: boolean,
): Promise<boolean> =>
  concludeStart(engine, record, effect, (current) => {
    const settled = notArrived ? withoutSend(current, record) : current;
    return unchanged(withEffectDelayed(settled, effect.id, engine.store.now() + waitMs, error.message));
  });

/** Takes back the note that a send may have arrived, when it certainly has not and was the only one. `sent`: as it was sent. */
const withoutSend = (record: TaskRecord, sent: TaskRecord): TaskRecord => {
  const { firstSentAt, lastSentAt } = sent.start;
  if (firstSentAt !== lastSentAt || lastSentAt !== record.start.lastSentAt) return record;
  return { ...record, start: { deadlineAt: record.start.deadlineAt } };
};

const forgetSend = (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<boolean> =>
  concludeStart(engine, record, effect, (current) => {
    const later = engine.store.now() + engine.limits.callTimeoutMs;
    return unchanged(withEffectDelayed(withoutSend(current, record), effect.id, later));
  });
