import type { JsonObject } from "@taskbridge/core/adapter";

const types = "string|number|integer|boolean|object|array";

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
}

const toSchema = (fields: readonly (Field | undefined)[]): JsonObject | undefined => {
  const known = fields.filter((field) => field !== undefined);
  if (known.length < fields.length) return undefined;
  const required = known.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(known.map(({ name, type }) => [name, { type }])),
    ...(required.length > 0 ? { required } : {}),
  };
};

const fieldBy =
  (pattern: RegExp) =>
  (part: string): Field | undefined => {
    const [, name, type, optional] = pattern.exec(part) ?? [];
    return name === undefined || type === undefined ? undefined : { name, type, isOptional: optional !== undefined };
  };

const ofText = fieldBy(new RegExp(`^([\\w-]+):(${types})(:optional)?$`));
const ofLabel = fieldBy(new RegExp(`^([\\w-]+?)-(${types})(-optional)?$`));

/** The input's schema from `customer:string pages:integer:optional`. Undefined for what is not. */
export const parseInputTag = (tag: string): JsonObject | undefined => toSchema(tag.trim().split(/\s+/).map(ofText));

/** Labels have neither spaces nor colons, so that there it is written `customer-string__pages-integer-optional`. Undefined for what is not. */
export const parseInputLabel = (label: string): JsonObject | undefined => toSchema(label.split("__").map(ofLabel));
