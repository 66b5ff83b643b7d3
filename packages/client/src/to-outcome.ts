import { isTaskClientError, TaskClientError } from "./client-error.ts";
import { invalidParams } from "./rpc-codes.ts";
import type { Task } from "./task.ts";

/** Why a task that is over has no result. */
export const toEndError = ({ taskId, status, message }: Task): TaskClientError => {
  if (status === "cancelled") return new TaskClientError("cancelled", message ?? "the task was cancelled", { taskId });
  const reason = message ?? (status === "unknown" ? "the server cannot say how the task ended" : "the task failed");
  return new TaskClientError("failed", reason, { taskId });
};

/**
 * A refusal of a request about a task, by what it says of the task. A refused look can only mean that the task is not
 * there; other requests are refused for other reasons as well, and such errors are given back.
 */
export const toTaskError = (error: unknown, taskId: string, method: string): unknown => {
  if (!isTaskClientError(error, "refused") || error.rpc?.code !== invalidParams) return error;
  // SEP-1686, "Error Handling": -32602 in both cases, told apart by their texts alone.
  const isExpired = /expired/i.test(error.message);
  if (!isExpired && method !== "tasks/get" && !/not found|unknown|no such/i.test(error.message)) return error;
  return new TaskClientError(isExpired ? "expired" : "not_found", error.message, {
    taskId,
    rpc: error.rpc,
    cause: error,
  });
};
