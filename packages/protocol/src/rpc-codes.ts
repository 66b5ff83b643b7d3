/** Codes of JSON-RPC errors: https://www.jsonrpc.org/specification#error_object */
export const invalidRequestCode = -32_600;
export const methodNotFoundCode = -32_601;
export const invalidParamsCode = -32_602;
export const internalErrorCode = -32_603;

/** The specification keeps all of -32768 to -32000 for others; this reads like the HTTP status it means. */
export const limitExceededCode = 429;
