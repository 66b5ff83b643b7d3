import { type BridgeError, type BridgeErrorCode, isStoreTrouble } from "@taskbridge/core";

/** Errors of a start that the caller can do something about. They are the answer of the tool, so that a model sees them. */
const reportedByTool: ReadonlySet<BridgeErrorCode> = new Set<BridgeErrorCode>([
  "invalid_input",
  "denied",
  "unsupported",
  "misconfigured",
  "conflict",
]);

/** https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling */
export const isToolError = (error: BridgeError): boolean => reportedByTool.has(error.code) && !isStoreTrouble(error);
