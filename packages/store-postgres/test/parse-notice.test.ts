import { describe, expect, it } from "@jest/globals";
import { parseNotice } from "../src/parse-notice.ts";

describe("a message on the channel of changes", () => {
  it.each([
    [{ origin: "them", taskIds: ["a", "b"] }],
    [{ origin: "them", taskIds: [] }],
    [{ origin: "them", taskIds: null }],
  ])("is a notice: %j", (notice) => {
    expect(parseNotice(JSON.stringify(notice))).toEqual(notice);
  });

  it.each([
    ["nothing", undefined],
    ["empty", ""],
    ["no JSON", "hello"],
    ["cut off", '{"origin":"them","taskIds":["a"'],
    ["null", "null"],
    ["a number", "5"],
    ["a text", '"origin"'],
    ["a list", "[]"],
    ["without members", "{}"],
    ["without an origin", '{"taskIds":["a"]}'],
    ["without tasks", '{"origin":"them"}'],
    ["from a number", '{"origin":7,"taskIds":["a"]}'],
    ["of a number", '{"origin":"them","taskIds":5}'],
    ["of an object", '{"origin":"them","taskIds":{"length":1}}'],
    ["of what are no IDs", '{"origin":"them","taskIds":["a",5,null]}'],
    ["of a version with more members", '{"origin":"them","taskIds":["a"],"payloads":["b"]}'],
    ["8 kB of text", "x".repeat(7_999)],
    ["8 kB of brackets", "[".repeat(7_999)],
  ])("is none: %s", (_, payload) => {
    expect(parseNotice(payload)).toBeUndefined();
  });
});
