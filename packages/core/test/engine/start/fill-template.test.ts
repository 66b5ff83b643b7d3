import { describe, expect, it } from "@jest/globals";
import { fillTemplate } from "../../../src/engine/start/fill-template.ts";

describe("fillTemplate", () => {
  it.each([
    ["a string as it is", ["--name={{input.name}}"], { name: "x y; rm" }, ["--name=x y; rm"]],
    ["anything else as its JSON", ["{{input.n}} {{input.list}}"], { n: 3, list: [1, "a"] }, ['3 [1,"a"]']],
    ["a nested value", { queue: "q-{{ input.where.region }}" }, { where: { region: "eu" } }, { queue: "q-eu" }],
    ["null as null", ["{{input.n}}"], { n: null }, ["null"]],
    ["nothing without a placeholder", { a: 1, b: [true, null] }, {}, { a: 1, b: [true, null] }],
  ])("fills in %s", (_what, target, input, filled) => {
    expect(fillTemplate(target, input)).toEqual(filled);
  });

  it("never reads a value as a template", () => {
    expect(fillTemplate("{{input.a}}", { a: "{{input.b}}", b: "secret" })).toBe("{{input.b}}");
    expect(fillTemplate("{{input.a}}", { a: "$& $1" })).toBe("$& $1");
  });

  it.each(["{{input.missing}}", "{{input.constructor}}", "{{input.a.b}}", "{{input.__proto__.x}}"])(
    "refuses %s when the input has no such value",
    (text) => {
      expect(() => fillTemplate(text, { a: "x" })).toThrow(expect.objectContaining({ code: "invalid_input" }));
    },
  );
});
