/** Errors of JSON-RPC that mean something to this package. */
export const methodNotFound = -32_601;
export const invalidParams = -32_602;
export const internalError = -32_603;
/** Of servers of ours: what it keeps its tasks in is away, which says nothing of any task. */
export const unavailable = 503;
