/** Codes of JSON-RPC errors: https://www.jsonrpc.org/specification#error_object */
export const invalidRequestCode = -32_600;
export const methodNotFoundCode = -32_601;
export const invalidParamsCode = -32_602;
export const internalErrorCode = -32_603;

/** The specification keeps all of -32768 to -32000 for others; this reads like the HTTP status it means. */
export const limitExceededCode = 429;
/**
 * Likewise. Not an internal error: that is what the result of a task is whose call has failed, and a client that asks for it must
 * not take a store that is away for the end of the task.
 */
export const unavailableCode = 503;
