import type { TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { type Task, toTaskFields } from "./to-task.ts";

/** What a host may give its model at once in place of the result. */
export const modelImmediateResponseKey = "io.modelcontextprotocol/model-immediate-response";

export interface CreateTaskResult {
  readonly task: Task;
  readonly _meta?: { readonly [modelImmediateResponseKey]: string };
}

/**
 * The answer of a call that has become a task. Always `working`: a question or an end is seen by `tasks/get`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#creating-tasks
 */
export const toCreateResult = (view: TaskView, immediateResponse?: string): CreateTaskResult => ({
  task: toTaskFields(view, "working", view.record.endedAt === undefined ? toStatusMessage(view.record) : undefined),
  ...(immediateResponse === undefined ? {} : { _meta: { [modelImmediateResponseKey]: immediateResponse } }),
});
