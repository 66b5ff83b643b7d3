import { type BridgeError, retryability, toBridgeError } from "../contract/bridge-error.ts";
import { isEnded } from "../contract/execution-snapshot.ts";
import type { TaskId } from "../contract/identity.ts";
import type { JsonObject, JsonValue } from "../contract/json-value.ts";
import type { Effect, TaskRecord } from "../contract/task-record.ts";
import type { StartOutcome, StartPromise } from "../contract/workflow-adapter.ts";
import { applyTransition } from "./apply-transition.ts";
import { aboutTask } from "./audit.ts";
import { callAdapter, requireAdapter } from "./call-adapter.ts";
import { backOffMs, withEffect, withEffectDelayed, withoutEffect } from "./effects.ts";
import type { EngineContext } from "./engine-context.ts";
import { fillTemplate } from "./fill-template.ts";
import { readWholePayload } from "./payloads.ts";
import { reviseTask } from "./revise-task.ts";
import { applySnapshot, failTask } from "./transitions.ts";

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
  const input = Buffer.from(await readWholePayload(engine, record.taskId, "input")).toString("utf8");
  try {
    const outcome = await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "start",
      timeoutMs: engine.limits.callTimeoutMs,
      onTimeout: "outcome_unknown",
      record,
      run: (adapter, context) => {
        const target = adapter.parseTarget(fillTemplate(record.target as JsonValue, JSON.parse(input) as JsonObject));
        return adapter.start({ key: record.startKey, target, input, attempt: effect.attempts }, context);
      },
    });
    await saveStarted(engine, record.taskId, outcome);
    return undefined;
  } catch (error) {
    if (engine.closing.aborted) return undefined;
    return takeStartError(engine, record, effect, toBridgeError(error), promise);
  }
};

/** Saves the ref whatever has happened meanwhile. An execution that nobody wants any more is stopped by an effect. */
export const saveStarted = async (engine: EngineContext, taskId: TaskId, outcome: StartOutcome): Promise<void> => {
  let isNews = false;
  const saved = await applyTransition(engine, taskId, (current) => {
    isNews = current.ref === undefined;
    const now = engine.store.now();
    const referred: TaskRecord = {
      ...current,
      ref: outcome.ref,
      effects: current.effects.filter((entry) => entry.kind !== "start"),
    };
    const { record: seen, ...rest } =
      outcome.snapshot === undefined
        ? { record: referred, payloads: [], dropPayloads: [], secrets: [] }
        : applySnapshot(referred, outcome.snapshot, now, engine.limits.maxReasks);
    const unwanted =
      seen.slotHeld &&
      (isEnded(seen.state) || seen.cancel !== undefined) &&
      !seen.effects.some((entry) => entry.kind === "cancel");
    const reason = seen.cancel?.reason ?? "the task has ended";
    return { ...rest, record: unwanted ? withEffect(seen, { kind: "cancel", reason }, now) : seen };
  });
  if (saved !== undefined) {
    if (isNews) engine.audit({ kind: "start_accepted", ...aboutTask(saved) });
    return;
  }
  engine.audit({
    kind: "unmatched_update",
    taskId,
    execution: outcome.ref,
    message: "the backend accepted the start of a task that was removed meanwhile",
  });
};

const takeStartError = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  error: BridgeError,
  promise: StartPromise,
): Promise<StartResult> => {
  const certain = error.notSent;
  if (retryability[error.code] === "never") {
    await forgetSend(engine, record, effect);
    return { refused: error };
  }
  if (certain || promise.kind === "idempotent") return retryStart(engine, record, effect, error, certain);
  engine.audit({
    kind: "effect_failed",
    ...aboutTask(record),
    message: error.message,
    fields: { effect: "start", attempt: effect.attempts },
  });
  await delayStart(
    engine,
    record,
    effect,
    promise.kind === "findable" ? Math.min(promise.settleMs, 1_000) : 0,
    error,
    false,
  );
  return undefined;
};

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
  const waitMs = backOffMs(effect.attempts, (engine.random(1)[0] as number) / 255, error.retryAfterMs);
  const now = engine.store.now();
  if (now + waitMs <= record.start.deadlineAt) {
    await delayStart(engine, record, effect, waitMs, error, certain);
    return undefined;
  }
  await applyTransition(engine, record.taskId, (current) => {
    const settled = certain ? withoutSend(current, record) : current;
    if (settled.start.firstSentAt === undefined) {
      return failTask(
        withoutEffect(settled, effect.id),
        "start_deadline",
        `the backend did not accept the start in time: ${error.message}`,
        now,
      );
    }
    const text = `start outcome unknown: the backend did not confirm it in time: ${error.message}`;
    // Where it can still be looked for, the start stays in the outbox: an execution that turns up is stopped.
    if (requireAdapter(engine, record.adapterId).find === undefined)
      return failTask(withoutEffect(settled, effect.id), "start_unknown", text, now);
    return failTask(
      withEffectDelayed(settled, effect.id, now + engine.limits.callTimeoutMs),
      "start_unknown",
      text,
      now,
      true,
    );
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
): Promise<unknown> =>
  reviseTask(engine, record.taskId, (current) => {
    const delayed = withEffectDelayed(current, effect.id, engine.store.now() + waitMs, error.message);
    return { record: notArrived ? withoutSend(delayed, record) : delayed };
  });

/** Takes back the note that the last send may have arrived, when it certainly has not. `before` holds what was true before it. */
const withoutSend = (record: TaskRecord, before: TaskRecord): TaskRecord => {
  if (before.start.firstSentAt !== before.start.lastSentAt) return record;
  return { ...record, start: { deadlineAt: record.start.deadlineAt } };
};

const forgetSend = (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<unknown> =>
  reviseTask(engine, record.taskId, (current) => ({
    record: withEffectDelayed(
      withoutSend(current, record),
      effect.id,
      engine.store.now() + engine.limits.callTimeoutMs,
    ),
  }));
