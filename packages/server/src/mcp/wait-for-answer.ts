import { openQuestions, type TaskRecord, type TaskView } from "@taskbridge/core";
import type { Connection, ServeContext } from "./serve-context.ts";
import { waitForChange } from "./wait-for-change.ts";

/** Progress is told at least this often (milliseconds), so that hosts with an idle timer see life. */
const heartbeatMs = 15_000;
/** And at most this often. */
const throttleMs = 1_000;

export interface WaitForAnswer {
  /** As the task stands now. */
  readonly view: TaskView;
  /** Milliseconds; infinite: until the end. */
  readonly waitMs: number;
  readonly over: AbortSignal;
  /** Tells the caller how it goes. Absent: it did not ask. */
  readonly report?: (record: TaskRecord) => void;
  /** Whether this state ends the wait before the task ends. Default: it has an open question. */
  readonly isEnough?: (view: TaskView) => boolean;
  /** Hears of each state that is waited through. */
  readonly observe?: (view: TaskView) => void;
}

const asks = ({ record }: TaskView): boolean => openQuestions(record.questions).length > 0;

export const hasEnded = ({ record }: TaskView): boolean => record.endedAt !== undefined;

/** Waits until a task has ended or asks something, but no longer than a caller that knows no tasks can stand. */
export const waitForAnswer = async (
  { engine, clock }: Pick<ServeContext, "engine" | "clock">,
  { owner }: Pick<Connection, "owner">,
  { view, waitMs, over, report, isEnough = asks, observe }: WaitForAnswer,
): Promise<TaskView> => {
  const deadline = clock.now() + waitMs;
  let latest = view;
  observe?.(view);
  let reportedRevision = view.record.revision;
  let reportedAt = clock.now();
  while (!hasEnded(latest) && !isEnough(latest) && !over.aborted) {
    const now = clock.now();
    if (now >= deadline) break;
    const hasChanged = latest.record.revision !== reportedRevision;
    const reportAt =
      report === undefined ? Number.POSITIVE_INFINITY : reportedAt + (hasChanged ? throttleMs : heartbeatMs);
    if (now >= reportAt) {
      report?.(latest.record);
      reportedRevision = latest.record.revision;
      reportedAt = now;
      continue;
    }
    const timeoutMs = Math.min(deadline - now, reportAt - now, heartbeatMs);
    latest = await waitForChange({ engine, clock }, { view: latest, owner, timeoutMs, over });
    observe?.(latest);
  }
  return latest;
};
