import { methodNotFoundCode } from "../rpc-codes.ts";
import type { RpcError } from "../to-rpc-error.ts";

/** The `execution.taskSupport` of a tool. */
export type TaskSupport = "optional" | "required" | "forbidden";

/**
 * What is wrong with calling a tool with or without a task; undefined: nothing. Both are errors of the method:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation
 */
export const taskSupportFault = (toolName: string, support: TaskSupport, hasTask: boolean): RpcError | undefined => {
  if (support === "required" && !hasTask) {
    return {
      code: methodNotFoundCode,
      message: `${toolName} can only be called as a task: send the call again with "task": {} in its params`,
    };
  }
  if (support === "forbidden" && hasTask) {
    return {
      code: methodNotFoundCode,
      message: `${toolName} cannot be called as a task: send the call again without "task" in its params`,
    };
  }
  return undefined;
};
