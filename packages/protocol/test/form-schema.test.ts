import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core";
import { toFormSchema } from "../src/form-schema.ts";

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
      { type: "boolean", default: false },
      { type: "boolean", default: false },
    ],
    [{ type: "boolean", default: "no" }, { type: "boolean" }],
    [{ type: "string", default: null }, { type: "string" }],
    [{ type: "number", default: "1" }, { type: "number" }],
    [
      { type: "array", items: { type: "string", enum: ["a"] }, default: [1] },
      { type: "array", items: { type: "string", enum: ["a"] } },
    ],
    [
      { type: "array", items: { type: "string", enum: ["a"] }, default: ["a"] },
      { type: "array", items: { type: "string", enum: ["a"] }, default: ["a"] },
    ],
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
