import { isTaskClientError, TaskClientError } from "./client-error.ts";
import type { TaskStatus } from "./task-status.ts";
import { invalidParams } from "./to-client-error.ts";

/** Why a task that is over has no result. */
export const toEndError = ({ taskId, state, message }: TaskStatus): TaskClientError => {
  if (state === "cancelled") return new TaskClientError("cancelled", message ?? "the task was cancelled", { taskId });
  const reason = message ?? (state === "unknown" ? "the server cannot say how the task ended" : "the task failed");
  return new TaskClientError("failed", reason, { taskId });
};

/**
 * A refusal of a request about a task, by what it says of the task. A refused look can only mean that the task is not
 * there; other requests are refused for other reasons as well, and such errors are given back.
 */
export const toTaskError = (error: unknown, taskId: string, method: string): unknown => {
  if (!isTaskClientError(error, "refused") || error.rpc?.code !== invalidParams) return error;
  const isExpired = /expired/i.test(error.message);
  if (!isExpired && method !== "tasks/get" && !/not found|unknown|no such/i.test(error.message)) return error;
  return new TaskClientError(isExpired ? "expired" : "not_found", error.message, {
    taskId,
    rpc: error.rpc,
    cause: error,
  });
};
