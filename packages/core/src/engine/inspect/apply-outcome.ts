import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { InspectOutcome } from "../../contract/workflow-adapter.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { applyTransition, reviseFromSnapshot } from "../state/apply-transition.ts";
import { keepEffects } from "../state/effects.ts";
import {
  clip,
  endTask,
  failTask,
  hasExecutionEnded,
  releaseSlot,
  type Transition,
  unchanged,
  withUnseen,
} from "../state/transitions.ts";

/** What is to be known of a look beside its outcome. */
export interface InspectionFacts {
  /** When it began, by the store's clock. */
  readonly inspectedAt: number;
  /** So many are missing that it may be the backend's fault, or that of how it is reached. */
  readonly isAnomalous: boolean;
}

/** Writes down what one look told. */
export const applyOutcome = async (
  engine: EngineContext,
  record: TaskRecord,
  outcome: InspectOutcome,
  { inspectedAt, isAnomalous }: InspectionFacts,
): Promise<void> => {
  if ("snapshot" in outcome) {
    await reviseFromSnapshot(engine, record, outcome.snapshot, { evolved: outcome.ref, inspectedAt });
  } else if ("notFound" in outcome) {
    const { proven, reason } = outcome.notFound;
    // What it was looked for under may be gone because it has become something else, which another look has told.
    const isItself = (current: TaskRecord): boolean => current.ref === record.ref;
    const missing = { proven, reason, isAnomalous: isAnomalous && !proven };
    if (record.missingSince === undefined && !missing.isAnomalous)
      engine.audit({ kind: "execution_missing", ...aboutTask(record), message: reason, fields: { proven } });
    await applyTransition(engine, record.taskId, (current) =>
      isItself(current) ? missingTransition(engine, current, missing) : undefined,
    );
  }
};

/** So many times `lostAfterMs` pass before one of many that are not seen is lost: time to notice a wrong account or prefix. */
const anomalyFactor = 144;

interface Missing {
  readonly proven: boolean;
  readonly reason: string;
  readonly isAnomalous: boolean;
}

/**
 * An execution that is gone for certain is lost. One that is merely not seen must stay unseen for `lostAfterMs`: an
 * eventually consistent backend, or a wrong prefix, loses nothing. One of many stays so for `anomalyFactor` times as long, and no
 * longer: it holds a slot. Gone after a cancel that was delivered means stopped.
 */
const missingTransition = (
  engine: EngineContext,
  record: TaskRecord,
  { proven, reason, isAnomalous }: Missing,
): Transition | undefined => {
  const now = engine.store.now();
  const lostAfterMs = engine.limits.lostAfterMs * (isAnomalous ? anomalyFactor : 1);
  const isLong = record.missingSince !== undefined && now - record.missingSince >= lostAfterMs;
  const isCertain = proven || isLong;
  const wasCancelSent = !record.effects.some((effect) => effect.kind === "cancel");
  if (isEnded(record.state)) {
    if (!record.slotHeld) return undefined;
    if (!isCertain && (isAnomalous || !wasCancelSent))
      return record.missingSince === undefined ? unchanged({ ...record, missingSince: now }) : undefined;
    return unchanged(releaseSlot(record));
  }
  if (hasExecutionEnded(record)) return undefined;
  const settled = keepEffects(record, (effect) => effect.kind !== "cancel");
  if (record.cancel?.deliveredAt !== undefined && (isCertain || !isAnomalous))
    return endTask(settled, { state: "cancelled", message: record.cancel.reason, slotHeld: false }, now);
  if (isCertain) return failTask(settled, "lost", `lost: ${reason}`, now);
  if (record.missingSince !== undefined) return undefined;
  const [since, until] = [now, now + lostAfterMs].map((at) => new Date(at).toISOString());
  const many = isAnomalous ? ", like many others" : "";
  const sinceText = ` since ${since}${many}: ${clip(reason, 350)}; given up at ${until}`;
  return unchanged(withUnseen({ ...record, missingSince: now }, sinceText, now));
};
