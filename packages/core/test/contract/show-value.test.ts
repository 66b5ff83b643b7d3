import { expect, test } from "@jest/globals";
import { isObject, showValue } from "../../src/adapter.ts";

const endless: Record<string, unknown> = {};
endless.self = endless;

test.each([
  ["text", '"text"'],
  [7, "7"],
  [null, "null"],
  [undefined, "undefined"],
  [["a", { b: 1 }], '["a",{"b":1}]'],
  [7n, "[object BigInt]"],
  [endless, "[object Object]"],
  ["x".repeat(200), `"${"x".repeat(99)}`],
])("a value is told whatever it is", (value, reported) => {
  expect(showValue(value)).toBe(reported);
});

test("a map is neither null nor a list", () => {
  expect([{}, { a: 1 }, Object.create(null)].map(isObject)).toEqual([true, true, true]);
  expect([null, undefined, [], "a", 1, () => {}].map(isObject)).toEqual(Array(6).fill(false));
});
