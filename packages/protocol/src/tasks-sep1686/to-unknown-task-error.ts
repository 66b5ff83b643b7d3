import type { BridgeError } from "@taskbridge/core";
import { type RpcError, toRpcError } from "../to-rpc-error.ts";

/**
 * The answer about a task that there is not, or no longer: `Failed to retrieve task: Task not found`.
 * https://modelcontextprotocol.io/seps/1686-tasks#7-1-protocol-errors
 */
export const toUnknownTaskError = (error: BridgeError): RpcError => {
  const { message, ...rest } = toRpcError(error);
  return { ...rest, message: `Failed to retrieve task: ${message}` };
};
