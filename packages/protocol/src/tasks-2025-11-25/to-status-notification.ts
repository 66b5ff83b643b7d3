import type { Task } from "./to-task.ts";

export interface StatusNotification {
  readonly method: "notifications/tasks/status";
  readonly params: Task;
}

/** Without related-task mark: the task names itself. */
export const toStatusNotification = (task: Task): StatusNotification => ({
  method: "notifications/tasks/status",
  params: task,
});
