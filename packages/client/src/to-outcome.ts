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
 * A refusal of a request about a task, by what it says of the task; other errors are given back. Of a server that is known
 * to have tasks, a refused look can only mean that the task is not there. `mayHaveNone`: servers without tasks are asked
 * as well, and some (those of the Python SDK) refuse a method that they do not know with the same code.
 */
export const toTaskError = (error: unknown, taskId: string, method: string, mayHaveNone = false): unknown => {
  if (!isTaskClientError(error, "refused") || error.rpc?.code !== invalidParams) return error;
  // SEP-1686, "Error Handling": -32602 in both cases, told apart by their texts alone.
  const isExpired = /\btask\b.*expired/i.test(error.message);
  const isMeant = method === "tasks/get" && !mayHaveNone;
  if (!isExpired && !isMeant && !saysMissing(error.message)) return error;
  return new TaskClientError(isExpired ? "expired" : "not_found", error.message, {
    taskId,
    rpc: error.rpc,
    cause: error,
  });
};

/** Of a task, and not of a method whose name has the word in it. */
const saysMissing = (text: string): boolean =>
  /\btask\b(?!\/)/i.test(text) && /not found|unknown|no such|does not exist/i.test(text) && !/method/i.test(text);
