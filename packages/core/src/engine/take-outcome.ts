import { isEnded } from "../contract/execution-snapshot.ts";
import type { TaskRecord } from "../contract/task-record.ts";
import type { InspectOutcome } from "../contract/workflow-adapter.ts";
import { applyTransition, takeSnapshot } from "./apply-transition.ts";
import { aboutTask } from "./audit.ts";
import { keepEffects } from "./effects.ts";
import type { EngineContext } from "./engine-context.ts";
import {
  clip,
  endTask,
  failTask,
  hasExecutionEnded,
  releaseSlot,
  type Transition,
  unchanged,
  withUnseen,
} from "./transitions.ts";

/** What is to be known of a look beside its outcome. */
export interface Look {
  /** When it began, by the store's clock. */
  readonly lookedAt: number;
  /** So many of the batch were missing that missing says nothing. */
  readonly isSuspect: boolean;
}

/** Writes down what one look told. */
export const takeOutcome = async (
  engine: EngineContext,
  record: TaskRecord,
  outcome: InspectOutcome,
  { lookedAt, isSuspect }: Look,
): Promise<void> => {
  if ("snapshot" in outcome) {
    await takeSnapshot(engine, record, outcome.snapshot, { evolved: outcome.ref, lookedAt });
  } else if ("notFound" in outcome) {
    const { proven, reason } = outcome.notFound;
    // What it was looked for under may be gone because it has become something else, which another look has told.
    const isItself = (current: TaskRecord): boolean => current.ref === record.ref;
    if (!proven && isSuspect) {
      await applyTransition(engine, record.taskId, (current) =>
        isItself(current) ? suspectTransition(current, reason, engine.store.now()) : undefined,
      );
      return;
    }
    if (record.missingSince === undefined)
      engine.audit({ kind: "execution_missing", ...aboutTask(record), message: reason, fields: { proven } });
    await applyTransition(engine, record.taskId, (current) =>
      isItself(current) ? missingTransition(engine, current, proven, reason) : undefined,
    );
  }
};

/** Nothing is concluded, but whoever waits is told. */
const suspectTransition = (record: TaskRecord, reason: string, now: number): Transition | undefined =>
  isEnded(record.state) || hasExecutionEnded(record) || record.missingSince !== undefined
    ? undefined
    : unchanged(withUnseen(record, ` at present, like many others: ${clip(reason, 350)}`, now));

/**
 * An execution that is gone for certain is lost. One that is merely not seen must stay unseen for `lostAfterMs`: an
 * eventually consistent backend, or a wrong prefix, loses nothing. Gone after a cancel that was delivered means stopped.
 */
const missingTransition = (
  engine: EngineContext,
  record: TaskRecord,
  proven: boolean,
  reason: string,
): Transition | undefined => {
  const now = engine.store.now();
  const isLong = record.missingSince !== undefined && now - record.missingSince >= engine.limits.lostAfterMs;
  const wasTold = !record.effects.some((effect) => effect.kind === "cancel");
  if (isEnded(record.state)) {
    if (!record.slotHeld) return undefined;
    if (!proven && !isLong && !wasTold)
      return record.missingSince === undefined ? unchanged({ ...record, missingSince: now }) : undefined;
    return unchanged(releaseSlot(record));
  }
  if (hasExecutionEnded(record)) return undefined;
  const settled = keepEffects(record, (effect) => effect.kind !== "cancel");
  if (record.cancel?.deliveredAt !== undefined)
    return endTask(settled, { state: "cancelled", message: record.cancel.reason, slotHeld: false }, now);
  if (proven || isLong) return failTask(settled, "lost", `lost: ${reason}`, now);
  if (record.missingSince !== undefined) return undefined;
  const [since, until] = [now, now + engine.limits.lostAfterMs].map((at) => new Date(at).toISOString());
  return unchanged(
    withUnseen({ ...record, missingSince: now }, ` since ${since}: ${clip(reason, 350)}; given up at ${until}`, now),
  );
};
