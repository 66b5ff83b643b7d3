import { expect, test } from "@jest/globals";
import { guardTaskId } from "../../src/terminal/guard-task-id.ts";

const dashed = "-c2WTjCTFpYRWkHdL4KSa2cF9i-";
const doubleDashed = "--2WTjCTFpYRWkHdL4KSa2cF9i-";

test.each([
  ["the printed form", `tasks watch ${dashed} --config f`, `tasks watch --config f -- ${dashed}`],
  ["two dashes", `tasks watch ${doubleDashed} --config f`, `tasks watch --config f -- ${doubleDashed}`],
  ["behind the flags", `tasks show --config f --json ${dashed}`, `tasks show --config f --json -- ${dashed}`],
  ["behind a flag with =", `tasks show --config=f ${dashed}`, `tasks show --config=f -- ${dashed}`],
  ["an ID without a dash", "tasks show 4K2WTjCTFpYRWkHdL4KSa2cF9i-", "tasks show 4K2WTjCTFpYRWkHdL4KSa2cF9i-"],
  ["a value of an option", `tasks show id --token ${dashed}`, `tasks show id --token ${dashed}`],
  ["guarded already", `tasks show -- ${dashed}`, `tasks show -- ${dashed}`],
  ["an unknown option", "tasks show id --jsn", "tasks show id --jsn"],
  ["another command", `call ${dashed}`, `call ${dashed}`],
])("%s", (_name, given, expected) => {
  expect(guardTaskId(given.split(" ")).join(" ")).toBe(expected);
});
