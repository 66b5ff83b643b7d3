import { placeholder } from "../../contract/is-template.ts";
import type { JsonObject, JsonValue } from "../../contract/json-value.ts";
import { invalidInput } from "../../contract/misconfigured.ts";

const placeholders = new RegExp(placeholder, "g");

/**
 * Replaces `{{input.x}}` in every string of a target by that input value: a string as it is, anything else as its JSON.
 * A value that the caller left out is `invalid_input`. Values are never parsed again, so input cannot bring in a template.
 */
export const fillTemplate = (target: JsonValue, input: JsonObject): JsonValue => {
  if (typeof target === "string") return fillText(target, input);
  if (Array.isArray(target)) return target.map((item: JsonValue) => fillTemplate(item, input));
  if (typeof target === "object" && target !== null) {
    return Object.fromEntries(
      Object.entries(target).map(([name, value]) => [
        name,
        value === undefined ? undefined : fillTemplate(value as JsonValue, input),
      ]),
    );
  }
  return target;
};

/** Does so in one text. */
export const fillText = (text: string, input: JsonObject): string =>
  text.replaceAll(placeholders, (_match, path: string) => valueAt(input, path.slice(1)));

const valueAt = (input: JsonObject, path: string): string => {
  let value: unknown = input;
  for (const name of path.split(".")) {
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined;
  }
  if (value === undefined) {
    throw invalidInput(path, "this tool needs the argument to know what to run");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
};
