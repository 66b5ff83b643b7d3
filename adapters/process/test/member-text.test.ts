import { describe, expect, it } from "@jest/globals";
import { memberText } from "../src/member-text.ts";

describe("the text of a member", () => {
  it.each([
    ['{"a":1}', "1"],
    [' { "a" : [ 1, {"a":2} ] , "b":3 } ', '[ 1, {"a":2} ]'],
    ['{"b":{"a":1},"c":["a",":"]}', undefined],
    ['{"b":"a","a":"x\\"},{\\\\"}', '"x\\"},{\\\\"'],
    ['{"a":1,"a":2,"b":3}', "2"],
    ['{"\\u0061":1e999}', "1e999"],
    ["{}", undefined],
  ])("of %s is %j", (json, text) => {
    expect(memberText(json, "a")).toBe(text);
  });

  it("is found at any depth of it", () => {
    const deep = "[".repeat(400_000) + "]".repeat(400_000);
    expect(memberText(`{"a":${deep},"b":1}`, "a")).toBe(deep);
  });
});
