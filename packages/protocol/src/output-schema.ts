import type { JsonObject, JsonValue } from "@taskbridge/core";

/** What a running task looks like as structured content, for callers that know no tasks. */
export const handleSchema: JsonObject = {
  type: "object",
  title: "The pipeline is still running",
  properties: {
    taskId: { type: "string" },
    taskStatus: { enum: ["working", "input_required"] },
    pollIntervalMs: { type: "integer" },
    message: { type: "string" },
    next: { type: "string" },
  },
  required: ["taskId", "taskStatus", "pollIntervalMs"],
  additionalProperties: false,
};

/** What a result that is too large for one answer looks like as structured content. */
export const previewSchema: JsonObject = {
  type: "object",
  title: "The result is too large for one answer",
  properties: {
    taskId: { type: "string" },
    resultUri: { type: "string" },
    resultBytes: { type: "integer" },
    resultMediaType: { type: "string" },
    next: { type: "string" },
  },
  required: ["taskId", "resultUri", "resultBytes"],
  additionalProperties: false,
};

/** Structured content is an object in the revisions that hosts speak, so only such a schema can be published. */
export const isPublishable = (output: JsonObject | undefined): output is JsonObject => output?.type === "object";

/**
 * The output schema to publish for a tool: its own result, or a handle, or a preview. Clients reject an answer that fits
 * none of them. Undefined for a tool without one, or with one that is not of an object.
 */
export const toPublishedSchema = (output: JsonObject | undefined): JsonObject | undefined => {
  if (!isPublishable(output)) return undefined;
  const { $schema: dialect, ...own } = output;
  const arm = output.$id === undefined ? (moveReferences(own) as JsonObject) : own;
  return {
    ...(dialect === undefined ? {} : { $schema: dialect }),
    type: "object",
    anyOf: [arm, handleSchema, previewSchema],
  };
};

/** Members whose values are data, not schemas. */
const data = new Set(["const", "enum", "default", "examples"]);

/** A schema that moves into `anyOf` keeps what its references mean. */
const moveReferences = (value: JsonValue | undefined): JsonValue | undefined => {
  if (Array.isArray(value)) return value.map((item: JsonValue) => moveReferences(item) as JsonValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, member]) => {
      if (data.has(name)) return [name, member];
      if (name === "$ref" && typeof member === "string" && /^#(\/|$)/.test(member)) {
        return [name, `#/anyOf/0${member.slice(1)}`];
      }
      return [name, moveReferences(member)];
    }),
  );
};
