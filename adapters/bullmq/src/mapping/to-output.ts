import type { ExecutionOutput, JsonValue } from "@taskbridge/core/adapter";
import { isDeeper } from "./is-deeper.ts";

/** Deeper values are handed on as text: writing one as JSON again overflows the stack of whoever does. */
const deepestInline = 1000;

/**
 * What a processor returned, as BullMQ stores it. Undefined for nothing, which BullMQ writes like null. What is no JSON (a
 * worker in another language wrote it) is text.
 */
export const toOutput = (returnvalue: string): ExecutionOutput | undefined => {
  if (returnvalue === "" || returnvalue === "null") return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(returnvalue) as JsonValue;
  } catch {
    return { kind: "text", text: returnvalue };
  }
  return isDeeper(value, deepestInline) ? { kind: "text", text: returnvalue } : { kind: "json", value };
};

/** A result that was not fetched with its job because of its size. */
export const toStream = (bytes: number): ExecutionOutput => ({ kind: "stream", bytes, mediaType: "application/json" });
