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
/** A result above this is not told twice, as text beside its structured content, of which so much is shown then. */
const maxDoubledBytes = 16_384;
const excerptBytes = 4_096;

/** How a caller gets at the rest of a result: as a resource, or, with hosts that read none, by a tool. */
export type ReadOn = "resources/read" | "task_result";

/**
 * The answer of a call whose task has ended. A result that does not fit the tool's output schema becomes an error that
 * holds it as text: clients throw such a result away, and nobody would see it.
 */
export const toToolResult = (
  view: TaskView,
  expectation?: OutputExpectation,
  readOn: ReadOn = "resources/read",
): ToolResult => {
  const { record } = view;
  switch (record.state) {
    case "succeeded":
      return toSuccess(view, expectation, readOn);
    case "failed":
      return toFailure(view);
    case "cancelled":
      return toErrorResult(record.message ?? `Task ${record.taskId} was cancelled.`);
    default:
      throw new TypeError(`task ${record.taskId} has not ended`);
  }
};

const toSuccess = (view: TaskView, expectation: OutputExpectation | undefined, readOn: ReadOn): ToolResult => {
  const { output } = view.record;
  const bytes = view.output ?? new Uint8Array();
  if (output === undefined) return toEmptySuccess(view, expectation);
  if (bytes.length < output.bytes) return toPreview(view, bytes, output.bytes, readOn);
  const text = decodeText(bytes);
  if (expectation === undefined) return { content: [textBlock(text)], isError: false };
  const value = output.mediaType === "application/json" ? parseJson(text) : { value: text };
  const fault = value === undefined ? "it is not JSON" : expectation.check(value.value);
  if (value === undefined || fault !== undefined) {
    return toErrorResult(`The job has succeeded, but its output does not fit the tool's output schema: ${fault}`, text);
  }
  if (!expectation.structured) return { content: [textBlock(text)], isError: false };
  const content = bytes.length > maxDoubledBytes ? toExcerpt(view, bytes, readOn) : [textBlock(text)];
  return { content, structuredContent: value.value, isError: false };
};

/** Hosts put both before their model, or either: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content */
const toExcerpt = ({ record }: TaskView, bytes: Uint8Array, readOn: ReadOn): ToolResult["content"] => {
  const shown = wholeCharacters(bytes.subarray(0, excerptBytes));
  const other = readOn === "task_result" ? ` task_result with taskId ${record.taskId} gives it as text.` : "";
  return [
    textBlock(decodeText(shown)),
    textBlock(`These are the first ${shown.length} of ${bytes.length} bytes. structuredContent has the whole.${other}`),
  ];
};

const toEmptySuccess = (view: TaskView, expectation: OutputExpectation | undefined): ToolResult =>
  expectation === undefined
    ? { content: [textBlock(view.record.message ?? "Done, without output.")], isError: false }
    : toErrorResult("The job has succeeded, but without the output that the tool's output schema promises.");

const toFailure = ({ record }: TaskView): ToolResult => {
  const { reason, code, detail } = record.failure ?? { reason: record.message ?? "The job has failed." };
  const text = code === undefined || reason.includes(code) ? reason : `${reason} (${code})`;
  return detail === undefined || detail === "" ? toErrorResult(text) : toErrorResult(text, detail);
};

const toPreview = (view: TaskView, bytes: Uint8Array, totalBytes: number, readOn: ReadOn): ToolResult => {
  const { taskId, tool, output } = view.record;
  const shown = wholeCharacters(bytes.subarray(0, previewBytes));
  const uri = formatResultUri(taskId);
  const next =
    readOn === "task_result"
      ? `Call task_result with taskId ${taskId} and offset ${shown.length} to read on.`
      : `Read on with resources/read at ${formatResultUri(taskId, { offset: shown.length })}; each answer names the next address.`;
  const mediaType = output?.mediaType ?? "text/plain";
  // A host may show its model nothing but the structured content, which has no beginning to read on from.
  const ways = readOn === "task_result" ? { next: `Call task_result with taskId ${taskId} to read it.` } : {};
  return {
    content: [
      textBlock(decodeText(shown)),
      textBlock(`These are the first ${shown.length} of ${totalBytes} bytes. ${next}`),
      { type: "resource_link", uri, name: `result of ${tool}`, mimeType: mediaType, size: totalBytes },
    ],
    structuredContent: { taskId, resultUri: uri, resultBytes: totalBytes, resultMediaType: mediaType, ...ways },
    isError: false,
  };
};
