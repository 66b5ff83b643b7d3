export { handleSchema, isPublishable, previewSchema, toPublishedSchema } from "./output-schema.ts";
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
export { toStatusMessage } from "./status-message.ts";
export { type OutputExpectation, toToolResult } from "./to-tool-result.ts";
export { type ResourceLinkBlock, type TextBlock, type ToolResult, textBlock, toErrorResult } from "./tool-result.ts";
