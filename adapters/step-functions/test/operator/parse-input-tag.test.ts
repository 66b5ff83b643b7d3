import { expect, it } from "@jest/globals";
import { parseInputTag } from "../../src/operator/parse-input-tag.ts";

it("reads an input's schema from what a tag may hold", () => {
  expect(parseInputTag("customer:string pages:integer:optional")).toEqual({
    type: "object",
    properties: { customer: { type: "string" }, pages: { type: "integer" } },
    required: ["customer"],
  });
  expect(parseInputTag(" dry-run:boolean:optional ")).toEqual({
    type: "object",
    properties: { "dry-run": { type: "boolean" } },
  });
});

it.each(["", "customer", "customer:text", "customer:string:maybe", "customer=string"])("%j is no schema", (tag) => {
  expect(parseInputTag(tag)).toBeUndefined();
});
