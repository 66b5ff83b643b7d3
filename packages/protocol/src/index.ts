export type { AskedQuestion } from "./asked-question.ts";
export { type FormSchema, toFormSchema } from "./form-schema.ts";
export { isToolError } from "./is-tool-error.ts";
export { handleSchema, isPublishable, previewSchema, toPublishedSchema } from "./output-schema.ts";
export { parseCursor } from "./parse-cursor.ts";
export { parseTaskId } from "./parse-task-id.ts";
export type { ElicitationModes } from "./read-elicitation-modes.ts";
export {
  defaultRangeBytes,
  formatResultUri,
  maxRangeBytes,
  parseResultUri,
  type ResultAddress,
  rangeToFetch,
  resultUriTemplate,
  type TextRange,
  toTextRange,
} from "./result-uri.ts";
export {
  internalErrorCode,
  invalidParamsCode,
  invalidRequestCode,
  limitExceededCode,
  methodNotFoundCode,
  unavailableCode,
} from "./rpc-codes.ts";
export { toStatusMessage } from "./status-message.ts";
export { toCancelledError } from "./to-cancelled-error.ts";
export { type RpcError, toRpcError } from "./to-rpc-error.ts";
export { type OutputExpectation, type ReadOn, toToolResult } from "./to-tool-result.ts";
export { type ResourceLinkBlock, type TextBlock, type ToolResult, textBlock, toErrorResult } from "./tool-result.ts";
