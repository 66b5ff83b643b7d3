import { invalidParamsCode } from "../rpc-codes.ts";
import type { RpcError } from "../to-rpc-error.ts";
import type { Task } from "./to-task.ts";

/**
 * Why `tasks/cancel` is refused for a task that has ended.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-cancellation
 */
export const endedCannotBeCancelled = ({ status }: Task): RpcError => ({
  code: invalidParamsCode,
  message: `Cannot cancel task: already in terminal status '${status}'`,
});
