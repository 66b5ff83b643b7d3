import { expect, test } from "@jest/globals";
import { formatPath, parsePath } from "../../src/config/config-path.ts";

test.each([
  [["tools", 2, "target", "queue"], "tools[2].target.queue"],
  [["adapters", "my.adapter", "token"], 'adapters["my.adapter"].token'],
  [["tools", 0, "target", "env", 'a "b"'], 'tools[0].target.env["a \\"b\\""]'],
  [[], ""],
])("%j is written %s and read again", (path, text) => {
  expect(formatPath(path)).toBe(text);
  expect(parsePath(text)).toEqual(path);
});
