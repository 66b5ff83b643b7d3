/** Ties a message to a task. */
export const relatedTaskKey = "modelcontextprotocol.io/related-task";

export interface RelatedTaskMeta {
  readonly [relatedTaskKey]: { readonly taskId: string };
}

/**
 * The `_meta` of every request, response and notification that belongs to a task.
 * https://modelcontextprotocol.io/seps/1686-tasks#4-7-associating-task-related-messages
 */
export const relatedTask = (taskId: string): RelatedTaskMeta => ({ [relatedTaskKey]: { taskId } });
