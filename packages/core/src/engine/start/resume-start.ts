import { type BridgeError, toBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { ExecutionRef } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { StartPromise } from "../../contract/workflow-adapter.ts";
import { aboutTask } from "../context/audit.ts";
import { callAdapter, requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { readInput } from "../context/payloads.ts";
import { auditAttempt, isOurAttempt } from "../state/effect-attempt.ts";
import { backOffMs, callMs, claimMs, maxEffectAttempts, withEffectDelayed, withoutEffect } from "../state/effects.ts";
import { reviseTask } from "../state/revise-task.ts";
import { endTask, unchanged } from "../state/transitions.ts";
import type { StartEffect, StartResult } from "./apply-start-error.ts";
import { concludeStart, failUnknownStart, failUnstarted, lookupConclusiveAt } from "./fail-start.ts";
import { saveStarted, sendStart, toTarget } from "./start-execution.ts";

/**
 * Carries out a start that was not settled by its first send: sends it again, or, when an earlier send may have arrived,
 * first does what the adapter's promise allows to find out.
 */
export const resumeStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
): Promise<StartResult> => {
  const mayHaveArrived = record.start.firstSentAt !== undefined;
  if (record.ref !== undefined) {
    await reviseTask(engine, record.taskId, (current) => ({ record: withoutEffect(current, effect.id) }));
    return undefined;
  }
  const adapter = engine.adapters.get(record.adapterId);
  if (adapter === undefined) return waitForAdapter(engine, record, effect);
  const unwanted = isUnwanted(record);
  if (!mayHaveArrived)
    return unwanted ? dropStart(engine, record, effect) : sendAgain(engine, record, effect, adapter.traits.start);
  if (effect.attempts > maxEffectAttempts) return giveUpOrRestart(engine, record, effect);
  const isSentNoMore = unwanted || record.start.givenUp !== undefined;
  if (
    adapter.find !== undefined &&
    (isSentNoMore || adapter.traits.start.kind !== "idempotent" || isTooLate(engine, record, adapter.traits.start))
  ) {
    return findStart(engine, record, effect, adapter.traits.start);
  }
  if (adapter.traits.start.kind === "idempotent" && !isTooLate(engine, record, adapter.traits.start)) {
    return sendAgain(engine, record, effect, adapter.traits.start);
  }
  return giveUpOrRestart(engine, record, effect);
};

/** Its adapter is not in the configuration: somebody may put it back, but not after the deadline. */
const waitForAdapter = async (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<undefined> => {
  const why = `adapters.${record.adapterId}: no such adapter is configured any more`;
  const now = engine.store.now();
  if (now < record.start.deadlineAt) {
    const waitMs = Math.min(backOffMs(effect.attempts, 1), record.start.deadlineAt - now);
    await delayStart(engine, record, effect, waitMs, why);
    return undefined;
  }
  const reason = record.start.firstSentAt === undefined ? "start_deadline" : "start_unknown";
  await concludeStart(engine, record, effect, (current) =>
    failUnstarted(withoutEffect(current, effect.id), reason, why, now),
  );
  return undefined;
};

/** Notes that a send may arrive from now on, then sends. */
const sendAgain = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  promise: StartPromise,
): Promise<StartResult> => {
  let isMarked = false;
  const marked = await reviseTask(engine, record.taskId, (current) => {
    const now = engine.store.now();
    // Not any more once it was taken back, or claimed by another process.
    isMarked = isOurAttempt(current, effect);
    const { lastOverAt: _over, ...before } = current.start;
    const start = { ...before, firstSentAt: before.firstSentAt ?? now, lastSentAt: now };
    return isMarked ? { record: { ...current, start } } : undefined;
  });
  return isMarked && marked !== undefined ? sendStart(engine, marked, effect, promise) : undefined;
};

/** Whether a send might arrive when the backend no longer knows the key: it may begin as late as its claim lapses. */
const isTooLate = (engine: EngineContext, record: TaskRecord, promise: StartPromise): boolean => {
  const { callTimeoutMs } = engine.limits;
  const arrivesBy = engine.store.now() + claimMs("start", callTimeoutMs) + callMs("start", callTimeoutMs);
  return (
    promise.kind === "idempotent" &&
    promise.forMs !== null &&
    arrivesBy > (record.start.firstSentAt ?? 0) + promise.forMs
  );
};

/** Nothing was ever sent and nothing is wanted any more. */
const dropStart = async (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<undefined> => {
  await concludeStart(engine, record, effect, (current) => {
    const now = engine.store.now();
    const message = current.cancel?.reason ?? "cancelled before it started";
    return isEnded(current.state)
      ? failUnstarted(current, "start_unknown", message, now)
      : endTask(current, { state: "cancelled", message, slotHeld: false }, now);
  });
  return undefined;
};

const findStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  promise: StartPromise,
): Promise<StartResult> => {
  const input = await readInput(engine, record.taskId);
  if (input === undefined) return undefined;
  const provesFrom = lookupConclusiveAt(record, promise, engine.limits.callTimeoutMs);
  const inspectedAt = engine.store.now();
  let ref: ExecutionRef | undefined;
  try {
    ref = await findExecution(engine, record, input);
  } catch (error) {
    if (!engine.closing.aborted) await findLater(engine, record, effect, toBridgeError(error), provesFrom);
    return undefined;
  }
  if (ref !== undefined) {
    engine.audit({ kind: "start_adopted", ...aboutTask(record), execution: ref });
    await saveStarted(engine, record, { ref });
    return undefined;
  }
  if (inspectedAt < provesFrom) {
    const waitMs = Math.min(Math.max(provesFrom - engine.store.now(), 0), backOffMs(effect.attempts, 0.5));
    await delayStart(engine, record, effect, waitMs, "not found yet");
    return undefined;
  }
  return isUnwanted(record) ? dropStart(engine, record, effect) : giveUpOrRestart(engine, record, effect);
};

const isUnwanted = (record: TaskRecord): boolean => isEnded(record.state) || record.cancel !== undefined;

const findExecution = (engine: EngineContext, record: TaskRecord, input: string): Promise<ExecutionRef | undefined> =>
  callAdapter(engine, {
    adapterId: record.adapterId,
    operation: "find",
    record,
    run: async (adapter, context) => {
      const target = toTarget(adapter, record, input);
      const firstSentAt = record.start.firstSentAt ?? record.createdAt;
      return adapter.find?.({ key: record.startKey, target, firstSentAt }, context);
    },
  });

/** Tries a lookup that failed again later, or fails the task when the time for that is over. */
const findLater = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  error: BridgeError,
  provesFrom: number,
): Promise<void> => {
  auditAttempt(engine, "effect_failed", record, { ...effect, kind: "find" }, error);
  const { givenUp, deadlineAt } = record.start;
  const waitMs = backOffMs(effect.attempts, 0.5, error.retryAfterMs);
  const until = Math.max(deadlineAt, givenUp === undefined ? 0 : provesFrom);
  if (isUnwanted(record) || engine.store.now() + waitMs <= until)
    return delayStart(engine, record, effect, waitMs, error.message);
  const why = givenUp === undefined ? error.message : `${givenUp}; what was sent before: ${error.message}`;
  await concludeStart(engine, record, effect, (current) => failUnknownStart(engine, current, effect, why, waitMs));
};

const delayStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  waitMs: number,
  why: string,
): Promise<void> => {
  await concludeStart(engine, record, effect, (current) =>
    unchanged(withEffectDelayed(current, effect.id, engine.store.now() + waitMs, why)),
  );
};

const giveUpOrRestart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
): Promise<StartResult> => {
  const promise = requireAdapter(engine, record.adapterId).traits.start;
  const { givenUp } = record.start;
  // News by key has told of it: it was started, and goes on being heard of.
  const isKnown = record.execution !== undefined;
  if (
    record.policy.onUnknownStart === "restart" &&
    givenUp === undefined &&
    !isKnown &&
    !isEnded(record.state) &&
    record.cancel === undefined &&
    engine.store.now() < record.start.deadlineAt
  ) {
    return sendAgain(engine, record, effect, promise);
  }
  const text =
    givenUp === undefined
      ? "start outcome unknown: the backend may or may not have started this"
      : `start outcome unknown: ${givenUp}; what was sent before is not found`;
  await concludeStart(engine, record, effect, (current) => {
    const dropped = withoutEffect(current, effect.id);
    return current.execution === undefined || isEnded(current.state)
      ? failUnstarted(dropped, "start_unknown", text, engine.store.now())
      : unchanged(dropped);
  });
  return undefined;
};
