import type { JsonObject } from "@taskbridge/core/adapter";

const types: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "object", "array"]);

/**
 * The input's schema from a tag. AWS allows no braces or quotes in tags, so that it is written `customer:string pages:integer:optional`.
 * Undefined for what is not.
 */
export const parseInputTag = (tag: string): JsonObject | undefined => {
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  for (const part of tag.trim().split(/\s+/)) {
    const [, name, type, optional] = /^([\w-]+):(\w+)(:optional)?$/.exec(part) ?? [];
    if (name === undefined || type === undefined || !types.has(type)) return undefined;
    properties[name] = { type };
    if (optional === undefined) required.push(name);
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
};
