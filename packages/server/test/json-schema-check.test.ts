import { describe, expect, test } from "@jest/globals";
import { compileCheck } from "../src/json-schema-check.ts";

describe("a schema", () => {
  test("is compiled once, whoever brings it", () => {
    const check = compileCheck({ type: "object", required: ["file"] }, "tools.one.output");
    expect(compileCheck({ type: "object", required: ["file"] }, "tools.other.output")).toBe(check);
    expect([check({ file: 1 }), check({})]).toEqual([undefined, expect.stringContaining("file")]);
  });

  test("that is changed afterwards is another", () => {
    const schema = { type: "object", required: ["file"] };
    compileCheck(schema, "one");
    schema.required = ["folder"];
    expect(compileCheck(schema, "one")({ folder: 1 })).toBeUndefined();
  });

  test("may have the identity of another", () => {
    const text = compileCheck({ $id: "output", type: "string" }, "one");
    const number = compileCheck({ $id: "output", type: "number" }, "other");
    expect([text(1), number(1)]).toEqual([expect.stringContaining("string"), undefined]);
  });

  test("that cannot be used is told with its place, each time", () => {
    for (const path of ["one", "other"]) {
      const compile = (): unknown => compileCheck({ type: "nonsense" }, path);
      expect(compile).toThrow(expect.objectContaining({ code: "misconfigured", data: { path } }));
    }
  });
});
