import { isObject } from "@taskbridge/core";

/** What a request had where something else is needed, in a few words. */
export const describeValue = (value: unknown): string => {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
};
