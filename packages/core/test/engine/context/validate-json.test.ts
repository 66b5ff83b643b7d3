import { describe, expect, it } from "@jest/globals";
import { jsonChecks } from "../../../src/engine/context/validate-json.ts";

const schema = {
  type: "object",
  properties: {
    url: { type: "string", format: "uri" },
    size: { enum: ["s", "m"] },
    deep: { type: "object", properties: { n: { type: "integer" } } },
  },
  required: ["url"],
  additionalProperties: false,
};

describe("jsonChecks", () => {
  it.each([
    [{ url: "https://x.test" }, undefined],
    [{}, "must have required property 'url'"],
    [{ url: 3 }, "url: must be string"],
    [{ url: "not a uri" }, 'url: must match format "uri"'],
    [{ url: "https://x.test", deep: { n: 1.5 } }, "deep.n: must be integer"],
    [{ url: "https://x.test", size: "xl" }, 'size: must be equal to one of the allowed values ["s","m"]'],
    [{ url: "https://x.test", extra: 1 }, "must NOT have additional properties (extra)"],
  ])("tells of %j: %s", (value, fault) => {
    expect(jsonChecks()(schema, "tools[0].input")(value)).toBe(fault);
  });

  it("compiles a schema once, and remembers only so many", () => {
    const check = jsonChecks(2);
    const first = check(schema, "a");
    expect(check({ ...schema }, "b")).toBe(first);
    check({ type: "string" }, "c");
    check({ type: "number" }, "d");
    expect(check(schema, "e")).not.toBe(first);
  });

  it.each([[{ type: "objekt" }], [{ $ref: "https://elsewhere.test/schema" }]])(
    "refuses %j, naming where it stands",
    (bad) => {
      expect(() => jsonChecks()(bad, "tools[3].input")).toThrow(
        expect.objectContaining({ code: "misconfigured", data: { path: "tools[3].input" } }),
      );
    },
  );
});
