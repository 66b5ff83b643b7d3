import type { JsonValue } from "@taskbridge/core";

/** The members of an object that came over the wire, not looked at yet. */
export type Members = Record<string, unknown>;

/** The value of a text that is a JSON object or list; undefined for any other. */
export const parseJson = (text: string): JsonValue | undefined => {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};
