import { isEnded } from "../../contract/execution-snapshot.ts";
import type { AdapterId, TaskId } from "../../contract/identity.ts";
import type { InspectOutcome } from "../../contract/workflow-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";

/** Which backends miss so many executions that it may be how they are reached: a wrong account, a wrong prefix. */
export interface AnomalyDetector {
  /** Whether what one look at a backend does not find says nothing yet. Outcomes in the order of the tasks. */
  record(adapterId: AdapterId, taskIds: readonly TaskId[], outcomes: readonly (InspectOutcome | undefined)[]): boolean;
  /** It was not looked at for long. */
  forget(taskId: TaskId): void;
}

/** What was seen last of a backend's executions: many small looks say as much as a large one. */
interface Seen {
  readonly running: Set<TaskId>;
  readonly missing: Set<TaskId>;
  /** When it was told last that the backend is suspect. */
  reportedAt: number;
}

/** That a backend is suspect is told no more often (milliseconds). */
const reportIntervalMs = 60_000;

const areMany = (missing: number, of: number): boolean => of >= 10 && missing > of / 5;

const isUnseen = (outcome: InspectOutcome | undefined): boolean =>
  outcome !== undefined && "notFound" in outcome && !outcome.notFound.proven;

const note = ({ running, missing }: Seen, taskId: TaskId, outcome: InspectOutcome | undefined): void => {
  if (outcome === undefined || "unavailable" in outcome || "error" in outcome) return;
  running.delete(taskId);
  missing.delete(taskId);
  if (isUnseen(outcome)) missing.add(taskId);
  else if ("snapshot" in outcome && !isEnded(outcome.snapshot.status)) running.add(taskId);
};

export const createAnomalyDetector = (engine: EngineContext): AnomalyDetector => {
  const byAdapter = new Map<AdapterId, Seen>();

  const report = (adapterId: AdapterId, seen: Seen, missing: number, of: number): void => {
    const now = engine.store.now();
    if (now - seen.reportedAt < reportIntervalMs) return;
    seen.reportedAt = now;
    const message = `${missing} of ${of} executions are not found at once: little is concluded from that`;
    engine.audit({ kind: "adapter_suspect", adapterId, message });
  };

  return {
    record: (adapterId, taskIds, outcomes) => {
      const seen = byAdapter.get(adapterId) ?? {
        running: new Set(),
        missing: new Set(),
        reportedAt: Number.NEGATIVE_INFINITY,
      };
      byAdapter.set(adapterId, seen);
      for (const [index, taskId] of taskIds.entries()) note(seen, taskId, outcomes[index]);
      const missing = outcomes.filter(isUnseen).length;
      if (missing === 0) return false;
      const counts = [
        [missing, taskIds.length],
        [seen.missing.size, seen.missing.size + seen.running.size],
      ] as const;
      const found = counts.find(([some, of]) => areMany(some, of));
      if (found !== undefined) report(adapterId, seen, ...found);
      return found !== undefined;
    },
    forget: (taskId) => {
      for (const { running, missing } of byAdapter.values()) {
        running.delete(taskId);
        missing.delete(taskId);
      }
    },
  };
};
