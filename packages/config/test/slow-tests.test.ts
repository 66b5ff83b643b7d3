import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { slowTests } from "../slow-tests.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

test("each slow test is there", () => {
  expect(slowTests.filter((name) => !existsSync(root + name))).toEqual([]);
});
