import { invalidInput } from "./invalid-input.ts";
import { characterStart, decodeText, wholeCharacters } from "./utf8.ts";

/** The result of a task as a resource: UTF-8 byte offsets, RFC 6570. */
export const resultUriTemplate = "taskbridge://tasks/{id}/result{?offset,length}";

/** The most bytes of one answer. */
export const maxRangeBytes = 1_048_576;

/** What is answered when no length is asked for: encoding it must not hold up others for long. */
export const defaultRangeBytes = 262_144;

/** No character of UTF-8 is longer, so a range of this length always moves on. */
const minRangeBytes = 4;

export interface ResultAddress {
  readonly taskId: string;
  /** Bytes from the start. */
  readonly offset: number;
  /** At most this many bytes. */
  readonly length: number;
}

export const formatResultUri = (
  taskId: string,
  range?: { readonly offset: number; readonly length?: number },
): string => {
  const uri = `taskbridge://tasks/${encodeURIComponent(taskId)}/result`;
  if (range === undefined) return uri;
  return `${uri}?offset=${range.offset}${range.length === undefined ? "" : `&length=${range.length}`}`;
};

const shape = /^taskbridge:\/\/tasks\/([^/?#]+)\/result(?:\?([^#]*))?$/;

/**
 * Reads a result's address. Undefined for anything that is not one. Throws `invalid_input` with `data.path` for a range
 * that makes no sense. Lengths are cut to what one answer may hold.
 */
export const parseResultUri = (uri: string): ResultAddress | undefined => {
  const [, id, query] = shape.exec(uri) ?? [];
  if (id === undefined) return undefined;
  const taskId = decodePart(id);
  if (taskId === undefined) return undefined;
  const parameters = new URLSearchParams(query ?? "");
  const length = readNumber(parameters, "length", defaultRangeBytes);
  return {
    taskId,
    offset: readNumber(parameters, "offset", 0),
    length: Math.min(Math.max(length, minRangeBytes), maxRangeBytes),
  };
};

const decodePart = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
};

const readNumber = (parameters: URLSearchParams, name: string, whenAbsent: number): number => {
  const text = parameters.get(name);
  if (text === null) return whenAbsent;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && Number.isSafeInteger(value)) return value;
  throw invalidInput(name, `a whole number of bytes is needed, got ${JSON.stringify(text)}`);
};

/**
 * Bytes to fetch so that a range can be cut at characters: a little more on both sides, where a character may begin
 * before the range or go on behind it.
 */
export const rangeToFetch = ({
  offset,
  length,
}: ResultAddress): { readonly offset: number; readonly length: number } => {
  const start = Math.max(0, offset - (minRangeBytes - 1));
  return { offset: start, length: offset + length - start };
};

export interface TextRange {
  readonly text: string;
  /** Bytes from the start of the result. */
  readonly offset: number;
  readonly bytes: number;
  /** Where to read on. Absent at the end. */
  readonly nextUri?: string;
}

/**
 * Cuts the asked range out of what `rangeToFetch` brought, at characters: both ends move back to where a character
 * starts, so that readers who go in steps of their own lose and repeat nothing.
 */
export const toTextRange = (address: ResultAddress, bytes: Uint8Array, totalBytes: number): TextRange => {
  const fetched = rangeToFetch(address).offset;
  const start = characterStart(bytes, Math.min(address.offset - fetched, bytes.length));
  const whole = fetched + bytes.length >= totalBytes ? bytes.subarray(start) : wholeCharacters(bytes.subarray(start));
  const offset = fetched + start;
  const end = offset + whole.length;
  return {
    text: decodeText(whole),
    offset,
    bytes: whole.length,
    ...(end < totalBytes ? { nextUri: formatResultUri(address.taskId, { offset: end, length: address.length }) } : {}),
  };
};
