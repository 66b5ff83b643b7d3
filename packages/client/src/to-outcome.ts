import { isTaskClientError, TaskClientError } from "./client-error.ts";
import type { TaskStatus } from "./task-status.ts";
import { invalidParams } from "./to-client-error.ts";

/** Why a task that is over has no result. */
export const toEndError = ({ taskId, state, message }: TaskStatus): TaskClientError => {
  if (state === "cancelled") return new TaskClientError("cancelled", message ?? "the task was cancelled", { taskId });
  const reason = message ?? (state === "unknown" ? "the server cannot say how the task ended" : "the task failed");
  return new TaskClientError("failed", reason, { taskId });
};

/** A refusal of a request about a task, by what it says of the task. Any other error is given back. */
export const toTaskError = (error: unknown, taskId: string): unknown => {
  if (!isTaskClientError(error, "refused") || error.rpc?.code !== invalidParams) return error;
  const code = /expired/i.test(error.message) ? "expired" : "not_found";
  return new TaskClientError(code, error.message, { taskId, rpc: error.rpc, cause: error });
};
