import type { TaskView } from "@taskbridge/core";
import type { RpcError } from "../to-rpc-error.ts";
import { type TaskOptions, toTask } from "./to-task.ts";

/**
 * Why `tasks/cancel` is refused for a task that has ended.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-cancellation
 */
export const endedCannotBeCancelled = (view: TaskView, options: TaskOptions): RpcError => ({
  code: -32_602,
  message: `Cannot cancel task: already in terminal status '${toTask(view, options).status}'`,
});
