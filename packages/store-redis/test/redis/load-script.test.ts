import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { loadScript } from "../../src/redis/load-script.ts";

const folder = new URL("../../lua/", import.meta.url);
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".lua") ? [file.slice(0, -4)] : []));

it.each(names)("%s documents the keys and arguments that it uses", (name) => {
  const { lua } = loadScript(name);
  const head = readFileSync(new URL(`${name}.lua`, folder), "utf8").split(/\n(?!-- )/)[0];
  expect(head).toMatch(/^-- KEYS: /m);
  if (lua.includes("ARGV")) expect(head).toMatch(/^-- ARGV: /m);
});

it("sends a script with the functions that it includes and without comments", () => {
  const { lua, sha } = loadScript("take-key");
  expect(lua).toContain("local function purge(lapsing, at, most)\n");
  expect(lua).not.toMatch(/^\s*--|^\s*$\n/m);
  expect(sha).toMatch(/^[0-9a-f]{40}$/);
});
