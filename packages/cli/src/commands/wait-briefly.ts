import type { TaskSource, TaskStatus } from "../task-source.ts";

/** Long enough for a backend that is there (milliseconds). */
const briefMs = 2_000;

/** The task as soon as it is as wanted, or as it is after a short while. */
export const waitBriefly = async (
  source: TaskSource,
  task: TaskStatus,
  isAsWanted: (task: TaskStatus) => boolean,
): Promise<TaskStatus> => {
  const limit = AbortSignal.timeout(briefMs);
  let latest = task;
  try {
    while (!isAsWanted(latest)) latest = await source.nextStatus(latest, limit);
  } catch (error) {
    if (!limit.aborted) throw error;
  }
  return latest;
};
