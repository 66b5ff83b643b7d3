import { isStoreUnavailable, pause, type TaskView } from "@taskbridge/core";
import { type Owner, toAccess } from "../caller.ts";
import type { ServeContext } from "./serve-context.ts";

export interface WaitForChange {
  /** As the task stands now. */
  readonly view: TaskView;
  readonly owner: Owner;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Ends the wait early. */
  readonly over: AbortSignal;
}

/** Between two tries while the store is away (milliseconds). */
const downMs = 1_000;

/**
 * Resolves with the task once it has changed, or as it was known when the time is over. While the store is away, too, it is as
 * it was known: that says nothing of the task, and whoever waits goes on waiting. Rejects when the task is gone.
 */
export const waitForChange = async (
  { engine, clock }: Pick<ServeContext, "engine" | "clock">,
  { view, owner, timeoutMs, over }: WaitForChange,
): Promise<TaskView> => {
  const { taskId, revision } = view.record;
  try {
    return await engine.waitForTask(taskId, toAccess(owner), { until: "changed", revision, timeoutMs, signal: over });
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    await pause(Math.min(timeoutMs, downMs), { clock, signal: over });
    return view;
  }
};
