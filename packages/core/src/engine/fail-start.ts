import type { BridgeError } from "../contract/bridge-error.ts";
import { isEnded } from "../contract/execution-snapshot.ts";
import type { Effect, TaskRecord } from "../contract/task-record.ts";
import { applyTransition } from "./apply-transition.ts";
import { aboutTask } from "./audit.ts";
import { requireAdapter } from "./call-adapter.ts";
import { withEffectDelayed, withoutEffect } from "./effects.ts";
import type { EngineContext } from "./engine-context.ts";
import { failTask, type ProtocolReason, releaseSlot, type Transition, unchanged } from "./transitions.ts";

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
    isOurs = current.effects.some(({ id, attempts }) => id === effect.id && attempts === effect.attempts);
    return isOurs ? conclude(current) : undefined;
  });
  return isOurs;
};

/** Nothing was started, or nothing that could be found again: fails the task, or gives the slot of an ended one back. */
export const failUnstarted = (record: TaskRecord, reason: ProtocolReason, text: string, now: number): Transition =>
  isEnded(record.state) ? unchanged(releaseSlot(record)) : failTask(record, reason, text, now);

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

/** Ends a task whose start the backend refused after the task had been handed out. */
export const failRefusedStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Effect,
  error: BridgeError,
): Promise<void> => {
  engine.audit({ kind: "start_refused", ...aboutTask(record), message: error.message });
  await concludeStart(engine, record, effect, (current) => {
    const text = `the backend refused the start: ${error.message}`;
    // The note of the refused send itself is taken back by then, so this is an earlier one.
    return current.start.firstSentAt === undefined
      ? failUnstarted(withoutEffect(current, effect.id), "start_refused", text, engine.store.now())
      : failUnknownStart(engine, current, effect, text, engine.limits.callTimeoutMs);
  });
};
