import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { ConfigError } from "../../src/config/config-error.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { loadPipelines } from "../../src/config/load-pipelines.ts";
import { buildEngine } from "../../src/config/open-engine.ts";
import { checkStoreUrl } from "../../src/config/open-store.ts";

const valid = `adapters:
  local: { use: process, directory: ./jobs }
tools:
  - name: hello
    adapter: local
    target: { command: [node, hello.mjs] }
`;

const list = (item: string): string => Array(9).fill(item).join(", ");

/** Name, file, and what is said behind `taskbridge.yaml:`. A string stands for `valid` with that text at its end. */
const rows: readonly (readonly [name: string, yaml: string, ...messages: string[]])[] = [
  ["empty file", "", "the file is empty".replace(/^/, " ")],
  ["only a comment", "# nothing\n", " the file is empty"],
  ["not a mapping", "hello\n", '1:1: a mapping is needed, got "hello"'],
  ["tab as indentation", "tools:\n\t- a\n", "2:1: tabs are not allowed as indentation"],
  [
    "unclosed list",
    "tools: [a\n",
    "2:1: flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  ["a member twice", `${valid}tools: []\n`, "7:1: map keys must be unique"],
  ["an unknown tag", `${valid}store: !secret x\n`, "7:8: unresolved tag: !secret"],
  ["an alias of nothing", `${valid}store: *nowhere\n`, "7:8: there is no anchor &nowhere before this alias"],
  [
    "an alias of what holds it",
    `${valid}server: &all\n  instructions: *all\n`,
    "8:17: this alias is within what &all stands for",
  ],
  [
    "aliases that multiply",
    `${valid}server:\n  a: &a [${list("1")}]\n  b: &b [${list("*a")}]\n  c: &c [${list("*b")}]\n  d: [${list("*c")}]\n`,
    "9:10: the aliases of this file stand for too much: write it out",
  ],
  ["a list as member name", `${valid}? [a]\n: 1\n`, "7:3: a member name must be text"],
  [
    "two documents",
    `${valid}---\n${valid}`,
    "7:1: source contains multiple documents; please use YAML.parseAllDocuments()",
  ],
  ["no adapters, no tools", "server: {}\n", "1: adapters: missing", "1: tools: missing"],
  ["no tools in the list", valid.replace(/tools:[\s\S]*/, "tools: []\n"), "3: tools: must not be empty"],
  ["unknown member, near", `${valid}sever: {}\n`, "7: sever: unknown member; did you mean server?"],
  [
    "unknown member, far",
    `${valid}color: red\n`,
    "7: color: unknown member; known here: server, store, adapters, tools, limits",
  ],
  [
    "swapped letters",
    `${valid}server:\n  isntructions: x\n`,
    "8: server.isntructions: unknown member; did you mean instructions?",
  ],
  ["wrong case", `${valid}limits: { maxreasks: 1 }\n`, "7: limits.maxreasks: unknown member; did you mean maxReasks?"],
  [
    "text for a number",
    `${valid}limits:\n  maxReasks: many\n`,
    '8: limits.maxReasks: a whole number is needed, got "many"',
  ],
  ["a fraction", `${valid}limits: { lostAfterMs: 1.5 }\n`, "7: limits.lostAfterMs: a whole number is needed, got 1.5"],
  ["below the least", `${valid}limits: { maxReasks: -1 }\n`, "7: limits.maxReasks: at least 0 is needed, got -1"],
  ["above the most", `${valid}server: { waitMs: 60000 }\n`, "7: server.waitMs: at most 45000 is allowed, got 60000"],
  [
    "a scalar for a list",
    `${valid}server: { wires: 2026-07-28 }\n`,
    '7: server.wires: a list is needed, got "2026-07-28"',
  ],
  [
    "a wire of a later version",
    `${valid}server:\n  wires:\n    - 2026-07-28\n    - sep-1687\n`,
    '10: server.wires[1]: must be 2026-07-28, 2025-11-25, sep-1686 or none, got "sep-1687"; did you mean sep-1686?',
  ],
  ["a wire twice", `${valid}server: { wires: [none, none] }\n`, "7: server.wires[1]: the same as [0]"],
  [
    "an unknown wire",
    `${valid}server: { wires: [2026-07-27] }\n`,
    '7: server.wires[0]: must be 2026-07-28, 2025-11-25, sep-1686 or none, got "2026-07-27"; did you mean 2026-07-28?',
  ],
  [
    "a word for the companions that is none",
    `${valid}server: { companions: sometimes }\n`,
    '7: server.companions: must be auto, always or never, got "sometimes"',
  ],
  [
    "a status that a failed job cannot have",
    `${valid}server: { legacyErrorStatus: fail }\n`,
    '7: server.legacyErrorStatus: must be failed or completed, got "fail"; did you mean failed?',
  ],
  [
    "a word for a boolean",
    `${valid}server: { allowModelAnswers: always }\n`,
    '7: server.allowModelAnswers: true or false is needed, got "always"',
  ],
  [
    "no waits at all",
    `${valid}limits: { maxWaitsPerOwner: 0 }\n`,
    "7: limits.maxWaitsPerOwner: at least 1 is needed, got 0",
  ],
  [
    "a key that is too short",
    `${valid}server: { stateKey: hush-hush }\n`,
    "7: server.stateKey: at least 32 characters are needed",
  ],
  ["no sessions at all", `${valid}limits: { maxSessions: 0 }\n`, "7: limits.maxSessions: at least 1 is needed, got 0"],
  [
    "sessions of an owner that are no number",
    `${valid}limits: { maxSessionsPerOwner: many }\n`,
    '7: limits.maxSessionsPerOwner: a whole number is needed, got "many"',
  ],
  [
    "sessions that end at once",
    `${valid}limits: { sessionIdleMs: 0 }\n`,
    "7: limits.sessionIdleMs: at least 1 is needed, got 0",
  ],
  [
    "a path without /",
    `${valid}server: { http: { path: mcp } }\n`,
    '7: server.http.path: must be a path that begins with /, got "mcp"',
  ],
  [
    "a port too large",
    `${valid}server: { http: { port: 65536 } }\n`,
    "7: server.http.port: at most 65535 is allowed, got 65536",
  ],
  ["auth without tokens", `${valid}server: { auth: {} }\n`, "7: server.auth.tokens: missing"],
  [
    "a store of a later version",
    `${valid}store: "etcd://u:secret@h"\n`,
    '7: store: must be memory:, sqlite:PATH, redis://HOST or postgres://HOST/DATABASE, got "etcd:…"',
  ],
  [
    "a store without a scheme",
    `${valid}store: ./x.db\n`,
    "7: store: must be memory:, sqlite:PATH, redis://HOST or postgres://HOST/DATABASE, got text without a scheme",
  ],
  [
    "a store with options, of a kind that does not exist",
    `${valid}store: { url: "etcd://h", pool: 3 }\n`,
    '7: store.url: must be memory:, sqlite:PATH, redis://HOST or postgres://HOST/DATABASE, got "etcd:…"',
  ],
  ["options for memory:", `${valid}store: { url: "memory:", pool: 3 }\n`, "7: store.pool: memory: has no options"],
  [
    "a store without a path",
    `${valid}store: "sqlite:"\n`,
    '7: store: must be memory:, sqlite:PATH, redis://HOST or postgres://HOST/DATABASE, got "sqlite:"',
  ],
  [
    "a bad adapter name",
    valid.replace("local:", "1st:"),
    "2: adapters.1st: the name must be a letter, then letters, digits, - and _ (at most 63)",
  ],
  ["an adapter without use", valid.replace("use: process, ", ""), "2: adapters.local.use: missing"],
  [
    "an adapter that is not there",
    valid.replace("use: process, directory: ./jobs", "use: bullmq"),
    "2: adapters.local.use: neither @taskbridge/adapter-bullmq nor bullmq is installed; npm install @taskbridge/adapter-bullmq",
  ],
  [
    "a misspelt adapter",
    valid.replace("use: process, directory: ./jobs", "use: cloud-workflow"),
    "2: adapters.local.use: neither @taskbridge/adapter-cloud-workflow nor cloud-workflow is installed; did you mean cloud-workflows?",
  ],
  [
    "somebody's adapter that is not there",
    valid.replace("use: process, directory: ./jobs", "use: their-own-thing"),
    "2: adapters.local.use: neither @taskbridge/adapter-their-own-thing nor their-own-thing is installed",
  ],
  [
    "a package that is no adapter",
    valid.replace("use: process, directory: ./jobs", "use: yaml"),
    "2: adapters.local.use: @taskbridge/adapter-yaml is not installed, and yaml is no taskbridge adapter: it does not export createAdapter",
  ],
  [
    "an adapter's unknown option",
    valid.replace("./jobs", "./jobs, graceMS: 1"),
    "2: adapters.local.graceMS: unknown member; did you mean graceMs?",
  ],
  ["an adapter's missing option", valid.replace(", directory: ./jobs", ""), "2: adapters.local.directory: missing"],
  [
    "an adapter's refused option",
    valid.replace("./jobs", '"./jo\\0bs"'),
    '2: adapters.local.directory: must be a path, got "./jo\\u0000bs"',
  ],
  [
    "a bad tool name",
    valid.replace("hello\n", "say hello\n"),
    '4: tools[0].name: must be letters, digits, _ - and . (at most 128), got "say hello"',
  ],
  [
    "a tool name twice",
    `${valid}  - { name: hello, adapter: local, target: { command: [a] } }\n`,
    "7: tools[1].name: hello is also tools[0]",
  ],
  [
    "an adapter misspelled",
    valid.replace("adapter: local", "adapter: locla"),
    '5: tools[0].adapter: there is no adapter "locla"; did you mean local?',
  ],
  [
    "an adapter unknown",
    valid.replace("adapter: local", "adapter: cloud"),
    '5: tools[0].adapter: there is no adapter "cloud"; known: local',
  ],
  ["no target", valid.replace(/ {4}target.*\n/, ""), "4: tools[0].target: missing"],
  [
    "a target of another shape",
    valid.replace(/command: \[.*\]/, "queue: x"),
    "6: tools[0].target.queue: unknown member",
  ],
  [
    "a target that is no command",
    valid.replace("[node, hello.mjs]", "node"),
    '6: tools[0].target.command: must be a list of program and arguments, got "node"',
  ],
  [
    "an argument that is no text",
    valid.replace("{ command: [node, hello.mjs] }", "\n      command:\n        - node\n        - 3"),
    "9: tools[0].target.command[1]: must be a string, got 3",
  ],
  [
    "an unusable input schema",
    `${valid}    input: { type: strng }\n`,
    "7: tools[0].input: not a usable JSON Schema: schema/type must be equal to one of the allowed values, schema/type must be array, schema/type must match a schema in anyOf",
  ],
  [
    "an unusable output schema",
    `${valid}    output: { $ref: "#/nowhere" }\n`,
    "7: tools[0].output: not a usable JSON Schema: can't resolve reference #/nowhere from id #",
  ],
  [
    "an unknown support",
    `${valid}    task: { support: optinal }\n`,
    '7: tools[0].task.support: must be optional, required or forbidden, got "optinal"; did you mean optional?',
  ],
  [
    "a policy below the least",
    `${valid}    task:\n      maxRunMs: 0\n`,
    "8: tools[0].task.maxRunMs: at least 1 is needed, got 0",
  ],
  [
    "nothing for a number",
    `${valid}    task:\n      pollIntervalMs:\n`,
    "8: tools[0].task.pollIntervalMs: a whole number is needed, got nothing",
  ],
  [
    "several faults, by line",
    valid.replace("name: hello", "nmae: hello").replace("local:", "lcal:"),
    "4: tools[0].name: missing",
    "4: tools[0].nmae: unknown member; did you mean name?",
  ],
  [
    "an unset variable",
    `${valid}store: sqlite:\${TASKBRIDGE_TEST_NOWHERE}/x.db\n`,
    "7: store: ${TASKBRIDGE_TEST_NOWHERE}: the environment variable TASKBRIDGE_TEST_NOWHERE is not set",
  ],
  [
    "an unreadable file",
    `${valid}store: \${file:./nowhere}\n`,
    "7: store: ${file:./nowhere}: the file cannot be read (ENOENT)",
  ],
  ["no reference", `${valid}store: \${a-b}\n`, "7: store: ${a-b}: not a reference; $${ writes a literal ${"],
  [
    "a reference within a default",
    `${valid}store: \${TASKBRIDGE_TEST_NOWHERE:-\${HOME}}\n`,
    "7: store: ${TASKBRIDGE_TEST_NOWHERE:-${HOME}: defaults cannot hold ${…}",
  ],
  ["an open reference", `${valid}store: \${HOME\n`, "7: store: ${HOME: the closing } is missing"],
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "taskbridge-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Everything that `serve --check` does. */
const check = async (yaml: string): Promise<string> => {
  const file = join(folder, "taskbridge.yaml");
  writeFileSync(file, yaml);
  try {
    const config = loadConfig(file);
    checkStoreUrl(config);
    await buildEngine(config, await loadPipelines(config), memoryStore()).close();
    return "ok";
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replaceAll(`${folder}/`, "");
  }
};

describe("faults of a configuration", () => {
  test("the file that the rows change is valid", async () => {
    await expect(check(valid)).resolves.toBe("ok");
  });

  test.each(rows)("%s", async (_name, yaml, ...messages) => {
    await expect(check(yaml)).resolves.toBe(messages.map((message) => `taskbridge.yaml:${message}`).join("\n"));
  });

  test("a file that is not there", () => {
    expect(() => loadConfig(join(folder, "other.yaml"))).toThrow(
      "other.yaml: there is no such file; `taskbridge init` writes one",
    );
  });
});
