import { invalidInput } from "../invalid-input.ts";
import { rangeToFetch, toTextRange } from "../result-uri.ts";
import { type ToolResult, textBlock } from "../tool-result.ts";

/** What one page holds unless asked for more or less (bytes): a part that hosts put before a model uncut. */
export const defaultPageBytes = 32_768;

/** The most bytes of one page. */
export const maxPageBytes = 65_536;

/** No character of UTF-8 is longer, so a page of this length always moves on. */
const minPageBytes = 4;

/** A part of the result of a task, in UTF-8 bytes. */
export interface ResultPage {
  readonly taskId: string;
  readonly offset: number;
  readonly length: number;
}

export const toResultPage = (
  taskId: string,
  { offset = 0, length = defaultPageBytes }: { readonly offset?: number; readonly length?: number },
): ResultPage => ({ taskId, offset, length: Math.min(Math.max(length, minPageBytes), maxPageBytes) });

/** Bytes to fetch for a page: a little more, since it is cut at characters. */
export const pageToFetch = (page: ResultPage): { readonly offset: number; readonly length: number } =>
  rangeToFetch(page);

/**
 * The page, and where the next one begins. `bytes`: what `pageToFetch` brought. Throws `invalid_input` for an offset beyond
 * the end.
 */
export const toPageResult = (page: ResultPage, bytes: Uint8Array, totalBytes: number): ToolResult => {
  if (page.offset > totalBytes) throw beyondTheEnd(page.offset, totalBytes);
  const part = toTextRange(page, bytes, totalBytes);
  const end = part.offset + part.bytes;
  const isWhole = part.offset === 0 && end === totalBytes;
  if (isWhole) return { content: [textBlock(part.text)], isError: false };
  const rangeText = `These are bytes ${part.offset} to ${end} of ${totalBytes}.`;
  const next =
    end < totalBytes
      ? `Call task_result with taskId ${page.taskId} and offset ${end} to read on.`
      : "The result ends here.";
  return { content: [textBlock(part.text), textBlock(`${rangeText} ${next}`)], isError: false };
};

/** Told before anything is fetched, where the size is known. */
export const beyondTheEnd = (offset: number, totalBytes: number): Error =>
  invalidInput("offset", `the result has ${totalBytes} bytes, got ${offset}`);
