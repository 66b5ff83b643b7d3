import { BridgeError, isObject } from "@taskbridge/core";
import type { TaskStatus } from "./to-task.ts";

/** A task that the client runs for us: a question that it has taken on. */
export interface ClientTask {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** Milliseconds. Absent: the client has no wish. */
  readonly pollIntervalMs?: number;
}

/** A request to a client that has declared tasks for it, as one. `ttlMs`: how long it should keep the task. */
export const withClientTask = <Method extends string, Params extends object>(
  request: { readonly method: Method; readonly params: Params },
  { ttlMs }: { readonly ttlMs: number },
): { readonly method: Method; readonly params: Params & { readonly task: { readonly ttl: number } } } => ({
  ...request,
  params: { ...request.params, task: { ttl: ttlMs } },
});

/**
 * Reads a client's `CreateTaskResult`. A task begins as `working`, so one that does not say is that. Throws
 * `bad_response` for what is no task.
 */
export const parseCreatedTask = (value: unknown): ClientTask => readTask(value, { status: "working" });

/**
 * Reads a client's answer to `tasks/get`; `asked`: the ID that it was asked for, for clients that do not repeat it. Throws
 * `bad_response` for what is no task, or another.
 */
export const parseClientTask = (value: unknown, asked?: string): ClientTask => {
  const task = readTask(value, { taskId: asked });
  if (asked === undefined || task.taskId === asked) return task;
  throw bad("it is another task than was asked for");
};

export const isClientTaskOver = (status: TaskStatus): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

const statuses: readonly unknown[] = [
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
] satisfies TaskStatus[];

const isStatus = (value: unknown): value is TaskStatus => statuses.includes(value);

const readTask = (
  value: unknown,
  whenAbsent: { readonly taskId?: string | undefined; readonly status?: TaskStatus },
): ClientTask => {
  const task = isObject(value) && isObject(value.task) ? value.task : value;
  if (!isObject(task)) throw bad("it is no object");
  const { taskId = whenAbsent.taskId, status = whenAbsent.status, pollInterval } = task;
  if (typeof taskId !== "string") throw bad("its taskId is no text");
  if (!isStatus(status)) throw bad(`its status is ${JSON.stringify(status)}`);
  const isWish = typeof pollInterval === "number" && Number.isFinite(pollInterval) && pollInterval > 0;
  return { taskId, status, ...(isWish ? { pollIntervalMs: pollInterval } : {}) };
};

const bad = (what: string): BridgeError => new BridgeError("bad_response", `the client's task cannot be read: ${what}`);
