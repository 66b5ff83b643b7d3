import { type ExecutionOutput, inlineOutputBytes, type JsonValue } from "@taskbridge/core/adapter";

/** What is nested deeper is no JSON for those who write or check it by recursion. AWS and other readers have limits of their own. */
const deepest = 500;

/** Escapes and ends of texts, numbers, and what opens or closes a list or a map. Nothing that is tried twice: this reads what others wrote. */
const tokens = /\\.|["[\]{}]|-?\d[\d.eE+-]*/g;

/** Whether reading a number and writing it again gives another one: not all digits are kept, nor is -0. */
const isChanged = (number: string): boolean => {
  const written = String(Number(number));
  return written !== number && digitsOf(number) !== digitsOf(written);
};

/** The same for `1.50e20`, `15e19` and `150000000000000000000`. */
const digitsOf = (number: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  let kept = digits.length;
  while (digits[kept - 1] === "0") kept--;
  return kept === 0
    ? `${sign}0`
    : `${sign}${digits.slice(0, kept)}e${Number(exponent) - fraction.length + digits.length - kept}`;
};

/** Of a text that is JSON. */
const readTokens = (json: string): { readonly isDeep: boolean; readonly changesNumbers: boolean } => {
  let depth = 0;
  let limit = 0;
  let isInText = false;
  let changesNumbers = false;
  for (const [token] of json.matchAll(tokens)) {
    if (token === '"') isInText = !isInText;
    else if (isInText) continue;
    else if (token === "[" || token === "{") limit = Math.max(limit, ++depth);
    else if (token === "]" || token === "}") depth--;
    else changesNumbers ||= isChanged(token);
  }
  return { isDeep: limit > deepest, changesNumbers };
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
  const json = parse(text);
  const { isDeep, changesNumbers } = json === undefined ? { isDeep: false, changesNumbers: false } : readTokens(text);
  if (json === undefined || isDeep)
    return isLarge ? { kind: "stream", bytes, mediaType: "text/plain" } : { kind: "text", text };
  if (isLarge || changesNumbers) return { kind: "stream", bytes, mediaType: "application/json" };
  return { kind: "json", value: json.value };
};
