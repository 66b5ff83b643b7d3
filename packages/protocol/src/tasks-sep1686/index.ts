export { parseTaskParams, type TaskParams, taskMarkPath } from "./parse-task-params.ts";
export { type RelatedTaskMeta, relatedTask, relatedTaskKey } from "./related-task.ts";
export { carriesSep1686, hasTaskMark, taskKey } from "./sep1686-mark.ts";
export { type CreatedNotification, toCreatedNotification } from "./to-created-notification.ts";
export { type Task, type TaskOptions, type TaskStatus, toTask } from "./to-task.ts";
export { type TaskResult, toCallAnswer, toTaskResult } from "./to-task-result.ts";
export { toUnknownTaskError } from "./to-unknown-task-error.ts";
export { isUsedId, toUsedIdError } from "./to-used-id-error.ts";
