import { expect, test } from "@jest/globals";
import { closestName } from "../../src/config/closest-name.ts";

test.each([
  ["sever", "server"],
  ["adaptres", "adapters"],
  ["STORE", "store"],
  ["tool", "tools"],
  ["color", undefined],
  ["", undefined],
])("%s → %s", (name, expected) => {
  expect(closestName(name, ["server", "store", "adapters", "tools", "limits"])).toBe(expected);
});
