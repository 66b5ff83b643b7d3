import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core";
import { loadConfig } from "../../src/config/load-config.ts";
import { toServeError } from "../../src/config/to-serve-error.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "taskbridge-serve-error-"));
  writeFileSync(
    join(folder, "taskbridge.yaml"),
    `server:
  wires: [none]
  waitMs: 5
  auth: { tokens: ./tokens.json }
  stateKey: 0123456789abcdef0123456789abcdef
adapters: { local: { use: process, directory: ./jobs } }
tools:
  - { name: a, adapter: local, target: { command: [run] } }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["wires[0]", "2: server.wires[0]"],
  ["waitMs", "3: server.waitMs"],
  ["auth.tokens", "4: server.auth.tokens"],
  ["stateKey", "5: server.stateKey"],
  ["server.waitMs", "3: server.waitMs"],
  ["tools[0].name", "8: tools[0].name"],
])("what the server says of %s is told at %s", (path, location) => {
  const file = join(folder, "taskbridge.yaml");
  const error = new BridgeError("misconfigured", `${path}: it is wrong`, { data: { path } });
  expect(toServeError(loadConfig(file), error)).toMatchObject({ message: `${file}:${location}: it is wrong` });
});

test("other errors stay what they are", () => {
  const error = new BridgeError("unavailable", "locked");
  expect(toServeError(loadConfig(join(folder, "taskbridge.yaml")), error)).toBe(error);
});
