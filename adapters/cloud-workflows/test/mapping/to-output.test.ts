import { expect, test } from "@jest/globals";
import { toOutput } from "../../src/mapping/to-output.ts";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test.each([
  ["null", null],
  ['"text"', "text"],
  ['{"a":[1,-2.5,1e3,true]}', { a: [1, -2.5, 1_000, true] }],
  ["9007199254740991", 9_007_199_254_740_991],
  // JavaScript writes it down just so.
  ["9007199254740992", 9_007_199_254_740_992],
  ['"a \\"9007199254740993\\" in a text"', 'a "9007199254740993" in a text'],
  [nested(500), JSON.parse(nested(500))],
])("is a value: %.40s", (text, value) => {
  expect(toOutput(text)).toEqual({ kind: "json", value });
});

test.each([
  ["{oops"],
  [""],
  ["9007199254740993"],
  ['{"id":-9223372036854775808, "n":1}'],
  ["[12345678901234567890123]"],
  ["1e999"],
  [nested(501)],
  [nested(20_000)],
])("stays a text: %.40s", (text) => {
  expect(toOutput(text)).toEqual({ kind: "text", text });
});

test.each([
  [JSON.stringify("é".repeat(40_000)), "application/json"],
  [`{"id":9007199254740993,"text":"${"x".repeat(70_000)}"}`, "application/json"],
  [nested(40_000), "text/plain"],
  ["x".repeat(70_000), "text/plain"],
])("is read in parts when it is large: %.30s", (text, mediaType) => {
  expect(toOutput(text)).toEqual({ kind: "stream", bytes: Buffer.byteLength(text), mediaType });
});

test("takes no time over texts that are made to", () => {
  const started = performance.now();
  toOutput(`"${"\\\\".repeat(30_000)}"`);
  toOutput(`{"a":${"1".repeat(60_000)}}`);
  toOutput("[".repeat(60_000));
  expect(performance.now() - started).toBeLessThan(1_000);
});
