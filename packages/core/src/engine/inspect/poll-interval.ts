import type { TaskRecord } from "../../contract/task-record.ts";

/** An execution is looked at about fifty times in its life, however long it is, and at least twice a minute while someone looks. */
const pollsPerLifetime = 50;
const maxMs = 30_000;

/**
 * Milliseconds between two looks: the larger of the tool's and the backend's floor, grown with the age of the task,
 * shortened again as an expected end comes near, and never less than the backend's own pause. A task that outlives its expected
 * end is treated as one that was created then. `estimatedEndAt` counts where the backend names no expected end itself.
 */
export const pollIntervalMs = (
  record: TaskRecord,
  backendFloorMs: number,
  now: number,
  backoffMs: number,
  estimatedEndAt?: number,
): number => {
  const floorMs = Math.max(record.policy.pollIntervalMs, backendFloorMs);
  const expectedEndAt = record.execution?.expectedEndAt ?? estimatedEndAt ?? Number.POSITIVE_INFINITY;
  const isOverdue = expectedEndAt <= now;
  const ageMs = now - (isOverdue ? expectedEndAt : record.createdAt);
  const grownMs = Math.min(Math.max(ageMs / pollsPerLifetime, floorMs), Math.max(maxMs, floorMs));
  const aimedMs = isOverdue ? grownMs : Math.max(floorMs, Math.min(grownMs, expectedEndAt - now));
  return Math.ceil(Math.max(aimedMs, backoffMs));
};
