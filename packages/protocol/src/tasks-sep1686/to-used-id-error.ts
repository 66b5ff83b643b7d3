import type { BridgeError } from "@taskbridge/core";
import { invalidParamsCode } from "../rpc-codes.ts";
import type { RpcError } from "../to-rpc-error.ts";

/** Whether a call was refused because its ID has been used before. */
export const isUsedId = ({ code, data }: BridgeError): boolean => code === "conflict" && data?.taskId !== undefined;

/** The refusal in the draft's words: https://modelcontextprotocol.io/seps/1686-tasks#7-1-protocol-errors */
export const toUsedIdError = (taskId: string): RpcError => ({
  code: invalidParamsCode,
  message: `Task ID already exists: ${taskId}`,
});
