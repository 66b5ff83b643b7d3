import type { TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { type TaskFields, toTaskFields } from "./task-fields.ts";

export interface CreateTaskResult extends TaskFields {
  readonly resultType: "task";
}

/**
 * The answer of a call that has become a task. Always `working`: a question or an end is seen by `tasks/get`, which has a
 * place for it. https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-creation
 */
export const toCreateResult = (view: TaskView): CreateTaskResult => ({
  resultType: "task",
  ...toTaskFields(view, "working", view.record.endedAt === undefined ? toStatusMessage(view.record) : undefined),
});
