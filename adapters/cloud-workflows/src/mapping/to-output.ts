import { type ExecutionOutput, inlineOutputBytes, type JsonValue } from "@taskbridge/core/adapter";

/** What is nested deeper would break those who write it down again: no person or model reads it. */
const deepest = 500;

/** Texts, then what matters of the rest. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

const isExact = (literal: string): boolean => {
  const value = Number(literal);
  if (!/^-?\d+$/.test(literal)) return Number.isFinite(value);
  return Number.isSafeInteger(value) || String(value) === literal;
};

interface Scan {
  readonly depth: number;
  /** Whether every number is one that JavaScript holds: Google's integers have 64 bits. */
  readonly isExact: boolean;
}

const scan = (text: string): Scan => {
  let depth = 0;
  let limit = 0;
  let exact = true;
  for (const [token] of text.matchAll(tokens)) {
    if (token === "[" || token === "{") limit = Math.max(limit, ++depth);
    else if (token === "]" || token === "}") depth--;
    else if (!token.startsWith('"')) exact &&= isExact(token);
  }
  return { depth: limit, isExact: exact };
};

const parse = (text: string): { readonly value: JsonValue } | undefined => {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return undefined;
  }
};

/** A result, which Google keeps as JSON. As a text where parsing it would change a number or where it is no JSON, or nested too deep. */
export const toOutput = (result: string): ExecutionOutput => {
  const bytes = Buffer.byteLength(result);
  const parsed = parse(result);
  const { depth, isExact } = parsed === undefined ? { depth: 0, isExact: false } : scan(result);
  const isJson = parsed !== undefined && depth <= deepest;
  if (bytes > inlineOutputBytes)
    return { kind: "stream", bytes, mediaType: isJson ? "application/json" : "text/plain" };
  return isJson && isExact ? { kind: "json", value: parsed.value } : { kind: "text", text: result };
};
