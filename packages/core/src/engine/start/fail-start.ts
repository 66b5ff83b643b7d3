import { isEnded } from "../../contract/execution-snapshot.ts";
import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import type { StartPromise } from "../../contract/workflow-adapter.ts";
import { requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { applyTransition } from "../state/apply-transition.ts";
import { isOurAttempt } from "../state/effect-attempt.ts";
import { callMs, claimMs, withEffectDelayed, withoutEffect } from "../state/effects.ts";
import { clip, failTask, type ProtocolReason, releaseSlot, type Transition, unchanged } from "../state/transitions.ts";

/**
 * Writes down what became of a start, unless another process has settled it meanwhile or has taken over: then its word
 * counts. Tells whether it was written.
 */
export const concludeStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Effect,
  conclude: (current: TaskRecord) => Transition,
): Promise<boolean> => {
  let isOurs = false;
  await applyTransition(engine, record.taskId, (current) => {
    isOurs = isOurAttempt(current, effect);
    return isOurs ? conclude(current) : undefined;
  });
  return isOurs;
};

/** Nothing was started, or nothing that could be found again: fails the task, or gives the slot of an ended one back. */
export const failUnstarted = (record: TaskRecord, reason: ProtocolReason, text: string, now: number): Transition =>
  isEnded(record.state) ? unchanged(releaseSlot(record)) : failTask(record, reason, text, now);

/**
 * Sends a start that may have arrived no further. Where the backend can still be asked, it is before the task fails: what an earlier
 * send has started is the task's own, however the last one was answered.
 */
export const giveUpStart = (engine: EngineContext, record: TaskRecord, effect: Effect, why: string): Transition => {
  const { find } = requireAdapter(engine, record.adapterId);
  if (find === undefined || isEnded(record.state))
    return failUnknownStart(engine, record, effect, why, engine.limits.callTimeoutMs);
  const delayed = withEffectDelayed(record, effect.id, engine.store.now(), why);
  return unchanged({ ...delayed, start: { ...delayed.start, givenUp: clip(why, 400) } });
};

/**
 * Fails a task whose start may have arrived. Where the backend can still be asked, the start stays in the outbox for
 * `waitMs` and more: an execution that turns up is stopped.
 */
export const failUnknownStart = (
  engine: EngineContext,
  record: TaskRecord,
  effect: Effect,
  why: string,
  waitMs: number,
): Transition => {
  const now = engine.store.now();
  const text = `start outcome unknown: ${why}`;
  if (requireAdapter(engine, record.adapterId).find === undefined)
    return failUnstarted(withoutEffect(record, effect.id), "start_unknown", text, now);
  const delayed = withEffectDelayed(record, effect.id, now + waitMs, why);
  return isEnded(record.state) ? unchanged(delayed) : failTask(delayed, "start_unknown", text, now, true);
};

type Sent = Pick<TaskRecord, "start" | "createdAt">;

/**
 * When the last send of a start is over for certain (epoch milliseconds): as its sender told, or, where that was killed, when one that
 * began as its claim lapsed would be.
 */
export const lastOverAt = ({ start, createdAt }: Sent, callTimeoutMs: number): number =>
  start.lastOverAt ??
  (start.lastSentAt ?? createdAt) + claimMs("start", callTimeoutMs) + callMs("start", callTimeoutMs);

/** From when on a start that is not found has not arrived (epoch milliseconds): the backend takes its time to show it. */
export const lookupConclusiveAt = (sent: Sent, promise: StartPromise, callTimeoutMs: number): number => {
  const visibilityDelayMs = promise.kind === "at-most-once" ? undefined : promise.visibilityDelayMs;
  return lastOverAt(sent, callTimeoutMs) + (visibilityDelayMs ?? callTimeoutMs);
};
