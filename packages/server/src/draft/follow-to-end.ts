import type { TaskRecord, TaskView } from "@taskbridge/core";
import { type Owner, toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";

export interface FollowToEnd {
  /** As the task stands now. */
  readonly view: TaskView;
  readonly over: AbortSignal;
  /** Called with every state. */
  hear(view: TaskView): void;
  /** Tells the caller how it goes. Absent: it did not ask. */
  readonly report?: (record: TaskRecord) => void;
}

/** A wait looks around at least this often, and tells progress as often (milliseconds). */
const lookAroundMs = 15_000;
/** Progress is told at most this often. */
const throttleMs = 1_000;

/** Waits for the end of a task, however long that takes, or until the wait is over. */
export const followToEnd = async (
  { engine, clock }: Pick<ServeContext, "engine" | "clock">,
  owner: Owner,
  { view, over, hear, report }: FollowToEnd,
): Promise<TaskView> => {
  let latest = view;
  let told = view.record.revision;
  let toldAt = clock.now();
  hear(latest);
  while (!hasEnded(latest) && !over.aborted) {
    const { taskId, revision } = latest.record;
    const now = clock.now();
    const tellAt =
      report === undefined ? Number.POSITIVE_INFINITY : toldAt + (revision === told ? lookAroundMs : throttleMs);
    if (now >= tellAt) {
      report?.(latest.record);
      told = revision;
      toldAt = now;
      continue;
    }
    const timeoutMs = Math.min(tellAt - now, lookAroundMs);
    latest = await engine.waitForTask(taskId, toAccess(owner), { until: "changed", revision, timeoutMs, signal: over });
    hear(latest);
  }
  return latest;
};
