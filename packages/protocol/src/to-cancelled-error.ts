import { internalErrorCode } from "./rpc-codes.ts";
import type { RpcError } from "./to-rpc-error.ts";

/** The answer about the result of a task that was cancelled: there is none. */
export const toCancelledError = (): RpcError => ({
  code: internalErrorCode,
  message: "Task was cancelled",
  data: { reason: "cancelled" },
});
