import type { TaskView } from "@taskbridge/core";
import { parseJson } from "./parse-json.ts";
import { formatResultUri } from "./result-uri.ts";
import { type ToolResult, textBlock, toErrorResult } from "./tool-result.ts";
import { decodeText, wholeCharacters } from "./utf8.ts";

/** What is known of a tool's output schema. */
export interface OutputExpectation {
  /** What is wrong with a value, or undefined when it fits. */
  check(value: unknown): string | undefined;
  /** True when the schema is published, so that answers must carry structured content. */
  readonly structured: boolean;
}

/** How much of a result that is too large for one answer is shown. */
const previewBytes = 8_192;

/**
 * The answer of a call whose task has ended. A result that does not fit the tool's output schema becomes an error that
 * holds it as text: clients throw such a result away, and nobody would see it.
 */
export const toToolResult = (view: TaskView, expectation?: OutputExpectation): ToolResult => {
  const { record } = view;
  switch (record.state) {
    case "succeeded":
      return toSuccess(view, expectation);
    case "failed":
      return toFailure(view);
    case "cancelled":
      return toErrorResult(record.message ?? `Task ${record.taskId} was cancelled.`);
    default:
      throw new TypeError(`task ${record.taskId} has not ended`);
  }
};

const toSuccess = (view: TaskView, expectation: OutputExpectation | undefined): ToolResult => {
  const { output } = view.record;
  const bytes = view.output ?? new Uint8Array();
  if (output === undefined) return toEmptySuccess(view, expectation);
  if (bytes.length < output.bytes) return toPreview(view, bytes, output.bytes);
  const text = decodeText(bytes);
  if (expectation === undefined) return { content: [textBlock(text)], isError: false };
  const value = output.mediaType === "application/json" ? parseJson(text) : { value: text };
  const fault = value === undefined ? "it is not JSON" : expectation.check(value.value);
  if (value === undefined || fault !== undefined) {
    return toErrorResult(`The job has succeeded, but its output does not fit the tool's output schema: ${fault}`, text);
  }
  const content = [textBlock(text)];
  return expectation.structured
    ? { content, structuredContent: value.value, isError: false }
    : { content, isError: false };
};

const toEmptySuccess = (view: TaskView, expectation: OutputExpectation | undefined): ToolResult =>
  expectation === undefined
    ? { content: [textBlock(view.record.message ?? "Done, without output.")], isError: false }
    : toErrorResult("The job has succeeded, but without the output that the tool's output schema promises.");

const toFailure = ({ record }: TaskView): ToolResult => {
  const { reason, code, detail } = record.failure ?? { reason: record.message ?? "The job has failed." };
  const told = code === undefined || reason.includes(code) ? reason : `${reason} (${code})`;
  return detail === undefined || detail === "" ? toErrorResult(told) : toErrorResult(told, detail);
};

const toPreview = (view: TaskView, bytes: Uint8Array, totalBytes: number): ToolResult => {
  const { taskId, tool, output } = view.record;
  const shown = wholeCharacters(bytes.subarray(0, previewBytes));
  const uri = formatResultUri(taskId);
  const next = formatResultUri(taskId, { offset: shown.length });
  const mediaType = output?.mediaType ?? "text/plain";
  return {
    content: [
      textBlock(decodeText(shown)),
      textBlock(
        `These are the first ${shown.length} of ${totalBytes} bytes. Read on with resources/read at ${next}; each answer names the next address.`,
      ),
      { type: "resource_link", uri, name: `result of ${tool}`, mimeType: mediaType, size: totalBytes },
    ],
    structuredContent: { taskId, resultUri: uri, resultBytes: totalBytes, resultMediaType: mediaType },
    isError: false,
  };
};
