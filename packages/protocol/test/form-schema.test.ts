import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core";
import { fromInputResponses } from "../src/ext-2026-07-28/from-input-responses.ts";
import { toFormSchema } from "../src/form-schema.ts";
import { aQuestion } from "./a-task.ts";

const object = (property: JsonObject): JsonObject => ({ type: "object", properties: { x: property } });

describe("schemas as forms", () => {
  test.each([
    [
      { type: "string", minLength: 1, title: "Name" },
      { type: "string", minLength: 1, title: "Name" },
    ],
    [
      { type: "string", format: "email" },
      { type: "string", format: "email" },
    ],
    [{ type: "string", format: "uuid", pattern: "^a" }, { type: "string" }],
    [
      { type: "string", enum: ["a", "b"], default: "a" },
      { type: "string", enum: ["a", "b"], default: "a" },
    ],
    [
      { type: "string", oneOf: [{ const: "a", title: "A" }] },
      { type: "string", oneOf: [{ const: "a", title: "A" }] },
    ],
    [
      { type: "integer", minimum: 0, multipleOf: 2 },
      { type: "integer", minimum: 0 },
    ],
    [{ type: "boolean" }, { type: "boolean" }],
    [
      { type: "array", items: { type: "string", enum: ["a"] } },
      { type: "array", items: { type: "string", enum: ["a"] } },
    ],
  ])("%j is a field", (property, field) => {
    expect(toFormSchema(object(property))).toEqual({ kind: "fields", requestedSchema: object(field) });
  });

  test.each([
    [object({ type: "object" })],
    [object({ type: "array", items: { type: "number" } })],
    [object({ type: ["string", "null"] })],
    [object({ type: "integer", enum: [1, 2] })],
    [object({ $ref: "#/$defs/a" })],
    [{ type: "array" }],
    [{ type: "object", anyOf: [{ required: ["x"] }] }],
    [{}],
  ])("%j is one field of JSON", (schema) => {
    const form = toFormSchema(schema);
    expect(form).toMatchObject({ kind: "json", requestedSchema: { required: ["json"] } });
    expect(JSON.stringify(form)).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1));
  });

  test.each([
    [object({ type: "string", format: "password" })],
    [object({ type: "string", writeOnly: true })],
    [{ type: "object", properties: { login: object({ type: "string", format: "password" }) } }],
    [{ type: "array", items: { writeOnly: true } }],
  ])("[A-8] %j asks for a secret", (schema) => {
    expect(toFormSchema(schema).kind).toBe("secret");
  });

  test("a question without a schema is an empty form", () => {
    expect(toFormSchema(undefined)).toEqual({ kind: "fields", requestedSchema: { type: "object", properties: {} } });
  });
});

describe("[A-9] answers", () => {
  const all = { tasks: true, form: true, url: true };
  const questions = new Map([
    ["flat", aQuestion({ schema: object({ type: "string" }) })],
    ["deep", aQuestion({ schema: object({ type: "object" }) })],
    ["yes", aQuestion()],
    ["page", aQuestion({ url: "https://sign.example" })],
  ]);

  test.each([
    [{ flat: { action: "accept", content: { x: "a" } } }, { flat: { action: "accept", content: { x: "a" } } }],
    [{ flat: { action: "accept" } }, { flat: { action: "accept", content: {} } }],
    [{ flat: { action: "decline", content: { x: "a" } } }, { flat: { action: "decline" } }],
    [{ flat: { action: "cancel" } }, { flat: { action: "cancel" } }],
    [{ deep: { action: "accept", content: { json: '{"x":{}}' } } }, { deep: { action: "accept", content: { x: {} } } }],
    [{ yes: { action: "accept", content: {} } }, { yes: { action: "accept" } }],
    [{ page: { action: "accept" } }, {}],
    [{ page: { action: "decline" } }, { page: { action: "decline" } }],
    [{ unknown: { ignored: true } }, {}],
    [{ constructor: { action: "accept" } }, {}],
  ])("%j", (responses, answers) => {
    expect(fromInputResponses(responses, questions, all)).toEqual(answers);
  });

  test.each([
    [{ flat: { action: "maybe" } }, "inputResponses.flat.action"],
    [{ flat: {} }, "inputResponses.flat.action"],
    [{ flat: "yes" }, "inputResponses.flat"],
    [{ flat: { action: "accept", content: "x" } }, "inputResponses.flat.content"],
    [{ deep: { action: "accept", content: { json: "{" } } }, "inputResponses.deep.content.json"],
    [{ deep: { action: "accept" } }, "inputResponses.deep.content.json"],
  ])("%j is refused, naming the field", (responses, path) => {
    expect(() => fromInputResponses(responses, questions, all)).toThrow(
      expect.objectContaining({ code: "invalid_input", data: { path }, message: expect.stringContaining(path) }),
    );
  });
});
