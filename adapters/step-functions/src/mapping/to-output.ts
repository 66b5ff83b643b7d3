import { type ExecutionOutput, inlineOutputBytes, type JsonValue } from "@taskbridge/core/adapter";

/** What is nested deeper is no JSON for those who write or check it by recursion. AWS and other readers have limits of their own. */
const deepest = 500;

/** Texts, numbers and what opens or closes a list or a map. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{}]/g;

/** Whether reading a number and writing it again gives another one: above 2^53 not all are kept, above 1e308 none. */
const isChanged = (number: string): boolean => {
  const read = Number(number);
  if (Number.isSafeInteger(read) || Math.abs(read) < Number.MAX_SAFE_INTEGER) return false;
  return digitsOf(number) !== digitsOf(String(read));
};

/** The same for `1.50e20`, `15e19` and `150000000000000000000`. */
const digitsOf = (number: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
};

const readTokens = (json: string): { readonly isDeep: boolean; readonly changesNumbers: boolean } => {
  let depth = 0;
  let most = 0;
  let changesNumbers = false;
  for (const [token] of json.matchAll(tokens)) {
    if (token === "[" || token === "{") most = Math.max(most, ++depth);
    else if (token === "]" || token === "}") depth--;
    else if (!token.startsWith('"')) changesNumbers ||= isChanged(token);
  }
  return { isDeep: most > deepest, changesNumbers };
};

const parse = (text: string): { readonly value: JsonValue } | undefined => {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return undefined;
  }
};

/**
 * What an execution has put out. AWS keeps JSON; local engines give a text as it is. JSON that is too large, or whose numbers would not
 * survive being read, is fetched as it is.
 */
export const toOutput = (text: string): ExecutionOutput => {
  const bytes = Buffer.byteLength(text);
  const isLarge = bytes > inlineOutputBytes;
  const { isDeep, changesNumbers } = readTokens(text);
  const json = isDeep ? undefined : parse(text);
  if (json === undefined) return isLarge ? { kind: "stream", bytes, mediaType: "text/plain" } : { kind: "text", text };
  if (isLarge || changesNumbers) return { kind: "stream", bytes, mediaType: "application/json" };
  return { kind: "json", value: json.value };
};
