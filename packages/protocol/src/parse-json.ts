import type { JsonValue } from "@taskbridge/core";

/** What a text says as JSON; undefined for one that is none. */
export const parseJson = (text: string): { readonly value: JsonValue } | undefined => {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return undefined;
  }
};
