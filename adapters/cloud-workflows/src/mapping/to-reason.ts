import { isObject } from "@taskbridge/core/adapter";
import type { Execution } from "../google/client.ts";
import { blankCallbacks } from "./blank-callbacks.ts";

/** Longer texts say no more to a person: in characters. */
const maxReasonLength = 400;
const maxDetail = 3_000;
const maxCode = 100;
/** What is read of a text at all: what an HTTP answer held may be megabytes. */
const maxRead = 20_000;

const toLine = (text: string): string =>
  blankCallbacks(text.slice(0, maxRead))
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();

const toLines = (text: string): string =>
  blankCallbacks(text.slice(0, maxRead))
    .replaceAll(/[^\P{Cc}\n\t]+/gu, " ")
    .trim()
    .slice(0, maxDetail);

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** What was raised: any value, and for what Google itself raises `{ message, tags, code?, … }`. */
const parsePayload = (payload: string): unknown => {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
};

const codeOf = (raised: unknown): string | undefined => {
  if (!isObject(raised)) return undefined;
  const tag = Array.isArray(raised.tags) ? raised.tags.find((value) => textOf(value) !== undefined) : undefined;
  const code = typeof raised.code === "number" ? String(raised.code) : textOf(raised.code);
  return textOf(tag) ?? code;
};

const messageOf = (raised: unknown, payload: string): string => {
  if (!isObject(raised)) return typeof raised === "string" ? raised : payload;
  const inner = isObject(raised.error) ? raised.error : isObject(raised.body) ? raised.body.error : undefined;
  const texts = [raised.message, isObject(inner) ? inner.message : inner, raised.error];
  const found = texts.map(textOf).find((text) => text !== undefined);
  const http = typeof raised.code === "number" && found !== undefined && !found.includes(String(raised.code));
  return found === undefined ? payload : http ? `${found} (${raised.code})` : found;
};

/** One line for a person from an execution's `error`, where it happened, and the stack. */
export const toReason = ({
  payload,
  context,
  stack,
}: NonNullable<Execution["error"]>): { readonly reason: string; readonly code?: string; readonly detail?: string } => {
  const raised = parsePayload(payload);
  const message = toLine(messageOf(raised, payload));
  const code = codeOf(raised);
  const [top] = stack;
  const line = top?.line === undefined ? "" : `, line ${top.line}`;
  const location =
    top === undefined || top.step === "" ? "" : ` (in step ${toLine(top.step)} of ${toLine(top.routine)}${line})`;
  const reasonText = message === "" ? toLine(context.split("\n")[0] ?? "") : message;
  const frames = stack.map(
    ({ step, routine, line: at }) => `in step "${step}", routine "${routine}", line: ${at ?? "?"}`,
  );
  const detail = toLines(textOf(context) ?? frames.join("\n"));
  return {
    reason: `${(reasonText === "" ? "failed without an error" : reasonText).slice(0, maxReasonLength)}${location.slice(0, 100)}`,
    ...(code === undefined ? {} : { code: toLine(code).slice(0, maxCode) }),
    ...(detail === "" ? {} : { detail }),
  };
};
