import { describe, expect, test } from "@jest/globals";
import { handleSchema, previewSchema, toPublishedSchema } from "../src/output-schema.ts";

describe("[D-6] the published output schema", () => {
  test("admits the tool's result, a handle and a preview", () => {
    expect(toPublishedSchema({ type: "object", required: ["files"] })).toEqual({
      type: "object",
      anyOf: [{ type: "object", required: ["files"] }, handleSchema, previewSchema],
    });
  });

  test("keeps what references mean, and leaves data alone", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        a: { $ref: "#/$defs/a" },
        b: { $ref: "#" },
        c: { $ref: "https://x/y#/z" },
        d: { const: { $ref: "#/x" } },
      },
      $defs: { a: { type: "string" } },
    };
    expect(toPublishedSchema(schema)).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      anyOf: [
        {
          properties: {
            a: { $ref: "#/anyOf/0/$defs/a" },
            b: { $ref: "#/anyOf/0" },
            c: { $ref: "https://x/y#/z" },
            d: { const: { $ref: "#/x" } },
          },
        },
        {},
        {},
      ],
    });
  });

  test.each([[undefined], [{ type: "array" }], [{}]])("there is none for %j", (schema) => {
    expect(toPublishedSchema(schema)).toBeUndefined();
  });
});
