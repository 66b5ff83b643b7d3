import { type JsonObject, type JsonValue, placeholder } from "@taskbridge/core/adapter";
import { closestName } from "./closest-name.ts";
import type { Config, ToolEntry } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import type { ConfigPath } from "./config-path.ts";

/**
 * Finds the `{{…}}` of targets and of `immediateResponse` that can never be replaced: by no argument that the tool takes, or written so that they stay
 * as they are. Other braces are the target's own: many programs have templates. Throws one ConfigError with all faults.
 */
export const checkTemplates = (config: Config): void => {
  const faults = config.tools.flatMap((tool, index) =>
    [
      ...textsOf(tool.target, ["tools", index, "target"]),
      ...textsOf(tool.task?.immediateResponse ?? "", ["tools", index, "task", "immediateResponse"]),
    ].flatMap(({ text, path }) => faultsOf(text, tool).map((message) => config.fault(path, message))),
  );
  if (faults.length === 0) return;
  throw new ConfigError(
    config.file,
    faults.flatMap((error) => error.faults),
  );
};

const textsOf = (target: JsonValue, path: ConfigPath): { text: string; path: ConfigPath }[] => {
  if (typeof target === "string") return [{ text: target, path }];
  if (Array.isArray(target)) return target.flatMap((item: JsonValue, index) => textsOf(item, [...path, index]));
  if (typeof target !== "object" || target === null) return [];
  return Object.entries(target).flatMap(([name, member]) => textsOf(member as JsonValue, [...path, name]));
};

const faultsOf = (text: string, tool: ToolEntry): string[] =>
  Array.from(text.matchAll(/\{\{(?!\{)/g), ({ index }) => faultOf(text.slice(index), tool)).filter(
    (message) => message !== undefined,
  );

/** Of a text that begins with `{{`. */
const faultOf = (text: string, { input }: ToolEntry): string | undefined => {
  const end = text.indexOf("}}");
  if (end === -1) return `${text.slice(0, 40)}: the closing }} is missing`;
  const whole = text.slice(0, end + 2);
  const replaced = placeholder.exec(text);
  if (replaced?.index === 0) {
    const [, names = ""] = replaced;
    const message = input === undefined ? undefined : findUnknown(input, names.slice(1).split("."));
    return message === undefined ? undefined : `${whole}: ${message}`;
  }
  const [, root = ""] = /^\{\{\s*(\w+)/.exec(text) ?? [];
  const isMeant = root === "output" || closestName(root, ["input"]) !== undefined;
  return isMeant ? `${whole}: only {{input.NAME}} is replaced` : undefined;
};

const findUnknown = (schema: JsonObject, [name = "", ...rest]: readonly string[]): string | undefined => {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, JsonValue>>;
  if (!Object.hasOwn(properties, name)) {
    const isClosed = schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
    if (!isClosed) return undefined;
    const known = Object.keys(properties);
    const meant = closestName(name, known);
    const hint = meant === undefined ? `it has ${known.join(", ") || "none"}` : `did you mean ${meant}?`;
    return `the input schema allows no ${name}; ${hint}`;
  }
  const member = properties[name];
  const isSchema = typeof member === "object" && member !== null && !Array.isArray(member);
  return isSchema && rest.length > 0 ? findUnknown(member as JsonObject, rest) : undefined;
};
