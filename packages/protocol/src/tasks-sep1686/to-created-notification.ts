import { type RelatedTaskMeta, relatedTask } from "./related-task.ts";

export interface CreatedNotification {
  readonly method: "notifications/tasks/created";
  readonly params: { readonly _meta: RelatedTaskMeta };
}

/**
 * Tells that a task can be polled from now on.
 * https://modelcontextprotocol.io/seps/1686-tasks#3-4-task-creation-notification
 */
export const toCreatedNotification = (taskId: string): CreatedNotification => ({
  method: "notifications/tasks/created",
  params: { _meta: relatedTask(taskId) },
});
