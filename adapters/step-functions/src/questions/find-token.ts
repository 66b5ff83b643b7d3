import { isObject } from "../is-object.ts";

/** What a waiting task was given, as far as it is about us. */
export interface CallbackParameters {
  /** Undefined: its author left the token out, so that nobody can answer. */
  readonly token: string | undefined;
  /** The map `mcp`, wherever in the parameters it is. */
  readonly mcp: Readonly<Record<string, unknown>> | undefined;
}

/** A message body within parameters within another one. */
const deepest = 12;

type Leaf = readonly [key: string, text: string];

/** Texts and their keys; JSON within a text, as in the body of a message, is read as well. */
const leavesOf = (key: string, value: unknown, depth = 0): readonly Leaf[] => {
  if (depth > deepest) return [];
  const inner = typeof value === "string" ? parsed(value) : value;
  if (typeof inner === "string") return [[key, inner]];
  if (Array.isArray(inner)) return inner.flatMap((item) => leavesOf(key, item, depth + 1));
  return isObject(inner) ? Object.entries(inner).flatMap(([name, of]) => leavesOf(name, of, depth + 1)) : [];
};

const parsed = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const findMcp = (value: unknown, depth = 0): Readonly<Record<string, unknown>> | undefined => {
  const inner = typeof value === "string" ? parsed(value) : value;
  if (depth > deepest || typeof inner !== "object" || inner === null) return undefined;
  if (isObject(inner) && isObject(inner.mcp)) return inner.mcp;
  for (const item of Object.values(inner)) {
    const found = findMcp(item, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Which text the token is: AWS tells what a task was given, not under which name. The likeliest first. */
const signs: readonly ((leaf: Leaf) => boolean)[] = [
  ([key]) => /task_?token/i.test(key),
  ([key]) => /^(token|callback_?token)$/i.test(key),
  // As AWS makes them.
  ([, text]) => /^[A-Za-z0-9+/]{100,}={0,2}$/.test(text),
  ([key]) => /token/i.test(key) && !/(request|session|next)_?token/i.test(key),
];

/** `parameters`: as the history has them, JSON. */
export const readParameters = (parameters: string): CallbackParameters => {
  const leaves = leavesOf("", parameters).filter(([, text]) => text !== "");
  const token = signs.map((sign) => leaves.find(sign)).find((leaf) => leaf !== undefined)?.[1];
  return { token, mcp: findMcp(parameters) };
};
