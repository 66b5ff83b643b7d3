import type { TaskView } from "@taskbridge/core";
import { invalidParamsCode } from "../rpc-codes.ts";
import { toCancelledError } from "../to-cancelled-error.ts";
import { toFailureError } from "../to-failure-error.ts";
import type { RpcError } from "../to-rpc-error.ts";
import { type OutputExpectation, toToolResult } from "../to-tool-result.ts";
import type { ToolResult } from "../tool-result.ts";
import { type RelatedTaskMeta, relatedTask } from "./related-task.ts";
import { type Task, toTask } from "./to-task.ts";

export type TaskResult =
  | { readonly result: ToolResult & { readonly _meta: RelatedTaskMeta } }
  | { readonly error: RpcError };

interface ResultOptions {
  readonly expectation?: OutputExpectation | undefined;
}

/**
 * The answer of `tasks/result`: what the call answers, but only of a task that is `completed`. `task`: as its caller is
 * shown it. https://modelcontextprotocol.io/seps/1686-tasks#4-6-result-retrieval
 */
export const toTaskResult = (view: TaskView, { status }: Task, options: ResultOptions = {}): TaskResult =>
  status === "completed"
    ? toResult(view, options)
    : {
        error: {
          code: invalidParamsCode,
          message: `Cannot retrieve result: Task status is '${status}', not 'completed'`,
        },
      };

/** The answer of the call itself, once its task has ended; a `TypeError` before. */
export const toCallAnswer = (view: TaskView, options: ResultOptions = {}): TaskResult => {
  const { record } = view;
  switch (toTask(view).status) {
    case "completed":
      return toResult(view, options);
    case "failed":
      return { error: toFailureError(record) };
    case "cancelled":
      return { error: toCancelledError() };
    default:
      throw new TypeError(`task ${record.taskId} has not ended`);
  }
};

const toResult = (view: TaskView, { expectation }: ResultOptions): TaskResult => ({
  result: { ...toToolResult(view, expectation), _meta: relatedTask(view.record.taskId) },
});
