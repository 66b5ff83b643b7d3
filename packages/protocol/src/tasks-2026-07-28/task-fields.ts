import type { TaskView } from "@taskbridge/core";
import { type TaskTimes, toTaskTimes } from "../task-times.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What every shape of a task begins with. */
export interface TaskFields extends TaskTimes {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
}

export const toTaskFields = (view: TaskView, status: TaskStatus, statusMessage: string | undefined): TaskFields => ({
  taskId: view.record.taskId,
  status,
  ...(statusMessage === undefined ? {} : { statusMessage }),
  ...toTaskTimes(view),
});
