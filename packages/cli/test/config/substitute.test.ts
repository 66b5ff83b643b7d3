import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { loadConfig } from "../../src/config/load-config.ts";
import { loadPipelines } from "../../src/config/load-pipelines.ts";
import { substitute } from "../../src/config/substitute.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "taskbridge-substitute-"));
  writeFileSync(join(folder, "token"), "s3cret-from-file\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { NAME: "value", EMPTY: "", PORT: "8080", FLAG: "true", TOKEN: 'hush "hush"', NESTED: "${NAME}" };
const replace = (value: unknown): unknown => substitute(value, { directory: folder, environment }).value;

describe("substitution", () => {
  test.each([
    ["${NAME}", "value"],
    ["a-${NAME}-${NAME}", "a-value-value"],
    ["${NOWHERE:-fallback}", "fallback"],
    ["${NOWHERE:-}", ""],
    ["${EMPTY:-fallback}", "fallback"],
    ["${EMPTY}", ""],
    ["${NAME:-fallback}", "value"],
    ["${NOWHERE:-a:-b}", "a:-b"],
    ["${file:token}", "s3cret-from-file"],
    ["$${NAME}", "${NAME}"],
    ["$NAME $$ {NAME}", "$NAME $$ {NAME}"],
    ["${NESTED}", "${NAME}"],
  ])("%s is %s", (text, expected) => {
    expect(replace(text)).toBe(expected);
  });

  test("reaches every string value and no member name", () => {
    expect(replace({ "${NAME}": ["${NAME}", { a: "${NAME}" }, 1, null] })).toEqual({
      "${NAME}": ["value", { a: "value" }, 1, null],
    });
  });
});

const load = (yaml: string): ReturnType<typeof loadConfig> => {
  writeFileSync(join(folder, "taskbridge.yaml"), yaml);
  return loadConfig(join(folder, "taskbridge.yaml"), environment);
};

const tools = "tools: [{ name: a, adapter: local, target: { command: [a] } }]\n";

describe("a configuration with references", () => {
  test("text becomes a number where the schema wants one, and stays text elsewhere", () => {
    const config = load(
      `server: { name: "\${PORT}", http: { port: "\${PORT}" } }\nadapters: { local: { use: process, directory: "\${PORT}", graceMs: "\${PORT}" } }\n${tools}`,
    );
    expect(config.server).toEqual({ name: "8080", http: { port: 8080 } });
    expect(config.adapters["local"]).toEqual({ use: "process", directory: "8080", graceMs: 8080 });
  });

  test("a value of the wrong kind is not shown", () => {
    const yaml = `server: { http: { port: "\${TOKEN}" } }\nadapters: { local: { use: process, directory: a } }\n${tools}`;
    expect(() => load(yaml)).toThrow(
      `${folder}/taskbridge.yaml:1: server.http.port: a whole number is needed, got the text put in for a \${…}`,
    );
  });

  test("what an adapter says about a secret shows the reference instead", async () => {
    const yaml = `adapters: { local: { use: process, directory: a } }\ntools: [{ name: a, adapter: local, target: { command: "\${TOKEN}" } }]\n`;
    await expect(loadPipelines(load(yaml))).rejects.toThrow(
      `${folder}/taskbridge.yaml:2: tools[0].target.command: must be a list of program and arguments, got "\${TOKEN}"`,
    );
  });

  test("the key of what clients keep is a secret as well", () => {
    const yaml = `server: { stateKey: "\${TOKEN}\${TOKEN}\${TOKEN}\${TOKEN}" }\nadapters: { local: { use: process, directory: a } }\n${tools}`;
    const config = load(yaml);
    expect(config.redact(`key ${environment.TOKEN}`)).toBe("key ${TOKEN}");
  });

  test("logs are redacted, plain and inside JSON, and addresses are not", () => {
    const config = load(
      `server: { http: { host: "\${NAME}" } }\nadapters: { local: { use: process, directory: "\${file:token}" } }\ntools: [{ name: a, adapter: local, target: { command: ["\${TOKEN}"] } }]\n`,
    );
    const line = JSON.stringify({ url: "http://value/", command: environment.TOKEN, folder: "/x/s3cret-from-file" });
    expect(config.redact(`${line} ${environment.TOKEN}`)).toBe(
      '{"url":"http://value/","command":"${TOKEN}","folder":"/x/${file:token}"} ${TOKEN}',
    );
  });
});
