/** Ties a message to a task. */
export const relatedTaskKey = "io.modelcontextprotocol/related-task";

export interface RelatedTaskMeta {
  readonly [relatedTaskKey]: { readonly taskId: string };
}

/**
 * The `_meta` of everything that belongs to a task and does not name it elsewhere.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#related-task-metadata
 */
export const relatedTask = (taskId: string): RelatedTaskMeta => ({ [relatedTaskKey]: { taskId } });
