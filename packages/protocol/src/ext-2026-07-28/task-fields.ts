import type { TaskRecord, TaskView } from "@taskbridge/core";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What every shape of a task begins with. */
export interface TaskFields {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt`; null: unlimited. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
}

export const toTaskFields = (view: TaskView, status: TaskStatus, statusMessage: string | undefined): TaskFields => {
  const { record } = view;
  return {
    taskId: record.taskId,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: toIsoTime(record.createdAt),
    lastUpdatedAt: toIsoTime(record.updatedAt),
    ttlMs: toTtl(record),
    pollIntervalMs: Math.max(1, Math.ceil(view.pollIntervalMs)),
  };
};

/** A running task is kept as long as it runs: only a tool that stops its executions can say how long that is. */
const toTtl = ({ createdAt, expiresAt, policy }: TaskRecord): number | null => {
  if (expiresAt !== undefined) return Math.max(1, Math.ceil(expiresAt - createdAt));
  return policy.maxRunMs === null ? null : policy.maxRunMs + policy.retentionMs;
};

const toIsoTime = (epochMs: number): string => new Date(epochMs).toISOString();
