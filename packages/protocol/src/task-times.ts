import type { TaskRecord, TaskView } from "@taskbridge/core";

/** The instants and durations of a task, as every generation shows them under names of its own. */
export interface TaskTimes {
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt`; null: unlimited. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
}

export const toTaskTimes = ({ record, pollIntervalMs }: TaskView): TaskTimes => ({
  createdAt: toIsoTime(record.createdAt),
  lastUpdatedAt: toIsoTime(record.updatedAt),
  ttlMs: toTtl(record),
  pollIntervalMs: Math.max(1, Math.ceil(pollIntervalMs)),
});

/** A running task is kept as long as it runs: only a tool that stops its executions can say how long that is. */
const toTtl = ({ createdAt, expiresAt, policy }: TaskRecord): number | null => {
  if (expiresAt !== undefined) return Math.max(1, Math.ceil(expiresAt - createdAt));
  return policy.maxRunMs === null ? null : policy.maxRunMs + policy.retentionMs;
};

const toIsoTime = (epochMs: number): string => new Date(epochMs).toISOString();
