import type { TaskRecord } from "../../contract/task-record.ts";

/** An execution is looked at about fifty times in its life, however long it is, and at least twice a minute while someone looks. */
const looksInALife = 50;
const longestMs = 30_000;

/**
 * Milliseconds between two looks: the larger of the tool's and the backend's floor, grown with the age of the task,
 * shortened again as an expected end comes near, and never less than the backend's own pause.
 */
export const pollIntervalMs = (record: TaskRecord, backendFloorMs: number, now: number, penaltyMs: number): number => {
  const floorMs = Math.max(record.policy.pollIntervalMs, backendFloorMs);
  const grownMs = Math.min(Math.max((now - record.createdAt) / looksInALife, floorMs), Math.max(longestMs, floorMs));
  const remainingMs = (record.execution?.expectedEndAt ?? Number.POSITIVE_INFINITY) - now;
  const aimedMs = remainingMs > 0 ? Math.max(floorMs, Math.min(grownMs, remainingMs)) : floorMs;
  return Math.ceil(Math.max(aimedMs, penaltyMs));
};
