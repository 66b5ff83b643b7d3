import { isObject, type JsonObject, type JsonValue } from "@taskbridge/core";

/** Where the value goes when a schema has no form: one field for its JSON text. */
export const jsonField = "json";

export type FormSchema =
  | { readonly kind: "fields"; readonly requestedSchema: JsonObject }
  | { readonly kind: "json"; readonly requestedSchema: JsonObject }
  /** Asks for something that must not pass through a form. */
  | { readonly kind: "secret" };

/**
 * The form for a question's schema. Elicitation knows flat objects of primitives only, each with few keywords, so what
 * it cannot say is left out (the answer is checked against the whole schema) and what has no flat form is one text field.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export const toFormSchema = (schema: JsonObject | undefined): FormSchema => {
  if (schema === undefined) return { kind: "fields", requestedSchema: { type: "object", properties: {} } };
  if (asksForSecret(schema)) return { kind: "secret" };
  const fields = toFields(schema);
  if (fields !== undefined) return { kind: "fields", requestedSchema: fields };
  return { kind: "json", requestedSchema: toJsonForm(schema) };
};

const toFields = (schema: JsonObject): JsonObject | undefined => {
  const { type, properties, required } = schema;
  const known = new Set([
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "$schema",
    "$id",
  ]);
  if (type !== "object" || !isObject(properties) || Object.keys(schema).some((name) => !known.has(name)))
    return undefined;
  const fields: Record<string, JsonValue> = {};
  for (const [name, property] of Object.entries(properties)) {
    const field = isObject(property) ? toField(property) : undefined;
    if (field === undefined) return undefined;
    fields[name] = field;
  }
  return { type: "object", properties: fields, ...(Array.isArray(required) ? { required } : {}) };
};

const about = ["title", "description"] as const;

/** One property as the form knows it, or undefined when it is no primitive. */
const toField = (property: JsonObject): JsonObject | undefined => {
  const field = toBareField(property);
  const preset = property.default;
  return field === undefined || !isPreset(property.type, preset) ? field : { ...field, default: preset };
};

/** Clients refuse the whole form for a preset of another type, which JSON Schema allows. */
const isPreset = (type: JsonValue | undefined, preset: JsonValue | undefined): preset is JsonValue => {
  if (type === "array") return Array.isArray(preset) && preset.every((item) => typeof item === "string");
  return typeof preset === (type === "integer" ? "number" : type);
};

const toBareField = (property: JsonObject): JsonObject | undefined => {
  switch (property.type) {
    case "boolean":
      return property.enum === undefined && property.const === undefined ? pick(property, "type") : undefined;
    case "integer":
    case "number":
      if (property.enum !== undefined || property.const !== undefined) return undefined;
      return pick(property, "type", "minimum", "maximum");
    case "string":
      return toTextField(property);
    case "array":
      return toChoicesField(property);
    default:
      return undefined;
  }
};

const formats = new Set<JsonValue | undefined>(["email", "uri", "date", "date-time"]);

const toTextField = (property: JsonObject): JsonObject | undefined => {
  if (property.const !== undefined || property.anyOf !== undefined) return undefined;
  if (property.enum !== undefined)
    return isTextList(property.enum) ? pick(property, "type", "enum", "enumNames") : undefined;
  if (property.oneOf !== undefined) return isTitledList(property.oneOf) ? pick(property, "type", "oneOf") : undefined;
  const field = pick(property, "type", "minLength", "maxLength");
  return formats.has(property.format) ? { ...field, format: property.format } : field;
};

const toChoicesField = (property: JsonObject): JsonObject | undefined => {
  const { items } = property;
  const choices = isObject(items) && ((items.type === "string" && isTextList(items.enum)) || isTitledList(items.anyOf));
  return choices ? pick(property, "type", "items", "minItems", "maxItems") : undefined;
};

const toJsonForm = (schema: JsonObject): JsonObject => ({
  type: "object",
  properties: {
    [jsonField]: {
      type: "string",
      title: typeof schema.title === "string" ? schema.title : "Answer as JSON",
      description: `JSON that fits this schema: ${JSON.stringify(schema)}`,
    },
  },
  required: [jsonField],
});

/** Credentials must not be asked for by a form; schemas mark them as passwords or as never to be read back. */
const asksForSecret = (value: JsonValue | undefined): boolean => {
  if (Array.isArray(value)) return value.some((item: JsonValue) => asksForSecret(item));
  if (!isObject(value)) return false;
  if (value.format === "password" || value.writeOnly === true) return true;
  return Object.values(value).some((member) => asksForSecret(member));
};

const isTextList = (value: JsonValue | undefined): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");

const isTitledList = (value: JsonValue | undefined): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((item: JsonValue) => isObject(item) && typeof item.const === "string" && typeof item.title === "string");

const pick = (property: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(
    [...names, ...about].filter((name) => property[name] !== undefined).map((name) => [name, property[name]]),
  );
