import type { TaskView } from "@taskbridge/core";
import { toCancelledError } from "../to-cancelled-error.ts";
import { toFailureError } from "../to-failure-error.ts";
import type { RpcError } from "../to-rpc-error.ts";
import { type OutputExpectation, toToolResult } from "../to-tool-result.ts";
import type { ToolResult } from "../tool-result.ts";
import { type RelatedTaskMeta, relatedTask } from "./related-task.ts";

/** What the call would have answered, had it not become a task. */
export type TaskResult =
  | { readonly result: ToolResult & { readonly _meta: RelatedTaskMeta } }
  | { readonly error: RpcError };

/**
 * The answer of `tasks/result` for a task that has ended; a `TypeError` for any other.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#result-retrieval
 */
export const toTaskResult = (
  view: TaskView,
  options: { readonly expectation?: OutputExpectation | undefined } = {},
): TaskResult => {
  const { record } = view;
  if (record.state === "cancelled") return { error: toCancelledError() };
  if (record.state === "failed" && record.failure?.kind === "protocol") return { error: toFailureError(record) };
  return { result: { ...toToolResult(view, options.expectation), _meta: relatedTask(record.taskId) } };
};
