import { isObject } from "@taskbridge/core/adapter";
import { cutText } from "./cut-text.ts";

/** Longer texts say no more to a person: in characters. */
const maxReasonLength = 500;
const maxDetail = 4_000;
/** Machines that run machines that run machines. */
const deepest = 10;

/** Where services that a state waits for say why they failed: Lambda, Glue, ECS, Batch, CodeBuild and SDK integrations. */
const members = ["errorMessage", "ErrorMessage", "StoppedReason", "StatusReason", "Message", "message"];

const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const textIn = (value: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined =>
  names.map((name) => value[name]).find((text): text is string => typeof text === "string" && text !== "");

/** The cause of a `.sync` execution is what describes the child, as JSON, whose own cause may be another one. */
const innermost = (
  error: string | undefined,
  cause: string,
  depth = 0,
): { error: string | undefined; text: string; stack?: unknown } => {
  const reasonText = parseObject(cause);
  if (reasonText === undefined) return { error, text: cause };
  const inner = textIn(reasonText, ["Cause", "cause"]);
  const innerError = textIn(reasonText, ["Error", "error"]) ?? error;
  if (inner !== undefined && depth < deepest) return innermost(innerError, inner, depth + 1);
  const text = textIn(reasonText, members);
  if (text !== undefined)
    return {
      error: textIn(reasonText, ["errorType"]) ?? error,
      text,
      stack: reasonText.trace ?? reasonText.stackTrace,
    };
  return textIn(reasonText, ["Error"]) === undefined ? { error, text: cause } : { error: innerError, text: "" };
};

/** A text on one line, without control characters: who writes a machine's errors does not steer a terminal. */
export const toLine = (text: string): string => cutText(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), maxReasonLength);

/** One line for a person from an execution's `error` and `cause`, and the stack of a Lambda function. */
export const toReason = (
  error: string | undefined,
  cause: string | undefined,
): { readonly reason: string; readonly detail?: string } => {
  const inner = innermost(error, cause ?? "");
  const reason = [...new Set([error, inner.error, inner.text].map((text = "") => toLine(text)))]
    .filter(Boolean)
    .join(": ");
  const stack = Array.isArray(inner.stack) ? cutText(inner.stack.map(String).join("\n"), maxDetail) : "";
  return {
    reason: reason === "" ? "failed without an error or a cause" : reason,
    ...(stack === "" ? {} : { detail: stack }),
  };
};
