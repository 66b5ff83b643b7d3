import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createWorkbench, documentOf, type Workbench } from "./workbench.ts";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const quickStart = readFileSync(join(repository, "packages", "docs", "quick-start.md"), "utf8");

/** The code blocks of one section, by the file that their first line names, or by their language. */
const blocksOf = (heading: string): ReadonlyMap<string, string> => {
  const [, rest = ""] = quickStart.split(`\n## ${heading}\n`);
  const [section = ""] = rest.split("\n## ");
  const blocks = Array.from(section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm), ([, language = "", code = ""]) => {
    const [, file = language] = /^(?:#|\/\/) (\S+)\n/.exec(code) ?? [];
    return [file, code] as const;
  });
  return new Map(blocks);
};

const block = (blocks: ReadonlyMap<string, string>, name: string): string => {
  const code = blocks.get(name);
  if (code === undefined) throw new Error(`the quick start has no block ${name}`);
  return code;
};

const inYaml = blocksOf("A YAML file");
const inTypeScript = blocksOf("TypeScript");
const lines = (code: string): number => code.trimEnd().split("\n").length;

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench(block(inYaml, "taskbridge.yaml"));
  writeFileSync(join(bench.folder, "count-lines.mjs"), block(inYaml, "count-lines.mjs"));
  // What a reader has after `npm install`.
  symlinkSync(join(repository, "packages", "cli", "node_modules"), join(bench.folder, "node_modules"));
});
afterAll(() => bench.dispose());

test("both quick starts are short", () => {
  expect(lines([...inYaml.values()].join(""))).toBeLessThanOrEqual(20);
  expect(lines(block(inTypeScript, "server.ts"))).toBeLessThanOrEqual(20);
});

test("the quick start in YAML works as written", async () => {
  const commands = block(inYaml, "sh").trimEnd().split("\n").map(toArguments);
  const [call = [], list = [], serve = []] = commands;
  expect(await bench.runSpawned(call)).toMatchObject({ code: 0, stdout: '{\n  "lines": 11\n}\n' });
  expect((await bench.runSpawned(list)).stdout).toMatch(/count_lines +succeeded/);

  expect(serve.slice(0, 2)).toEqual(["serve", "--config"]);
  const server = bench.spawn([...serve, "--port", "0"]);
  const [, url = ""] = await server.sees(/"url":"(http:\/\/127\.0\.0\.1:\d+\/mcp)"/);
  const called = await bench.run([...call.filter((word) => !/config|^taskbridge/.test(word)), "--url", url, "--json"]);
  expect(documentOf(called)).toMatchObject({ state: "succeeded", result: { lines: 11 } });
  server.kill("SIGTERM");
  expect((await server.done).code).toBe(0);
});

test("the quick start in TypeScript compiles and works", async () => {
  const code = block(inTypeScript, "server.ts");
  writeFileSync(join(bench.folder, "server.mts"), code);
  await compile("server.mts");
  // It has no types of its own to strip, so Node runs it as it is. Another port: 3000 may be taken here.
  writeFileSync(join(bench.folder, "server.mjs"), code.replace("port: 3000", "port: 0"));
  const server = bench.spawnNode("server.mjs");
  const [, url = ""] = await server.sees(/^Serving (\S+)$/m);
  const called = await bench.run([
    "call",
    "count_lines",
    "--input",
    '{"file":"taskbridge.yaml"}',
    "--url",
    url,
    "--json",
  ]);
  expect(documentOf(called)).toMatchObject({ state: "succeeded", result: { lines: 11 } });
  server.kill("SIGTERM");
  expect((await server.done).code).toBe(0);
});

/** The words behind `npx taskbridge`. */
function toArguments(command: string): string[] {
  const words = Array.from(command.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? "");
  expect(words.slice(0, 2)).toEqual(["npx", "taskbridge"]);
  return words.slice(2);
}

async function compile(file: string): Promise<void> {
  const tsc = join(repository, "node_modules", "typescript", "bin", "tsc");
  const types = dirname(join(repository, "node_modules", "@types", "node"));
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"];
  await promisify(execFile)(process.execPath, [tsc, ...flags, "--typeRoots", types, "--types", "node", file], {
    cwd: bench.folder,
  }).catch((error: { stdout?: string }) => {
    throw new Error(`${file} does not compile:\n${error.stdout}`);
  });
}

test("the minimal adapter of the guide works as written", async () => {
  const guide = readFileSync(join(repository, "packages", "docs", "adapter-contract.md"), "utf8");
  const [, code = ""] = /^```js\n(\/\/ timer-adapter\.mjs\n[\s\S]*?)^```$/m.exec(guide) ?? [];
  writeFileSync(join(bench.folder, "timer-adapter.mjs"), code);
  const tool = (seconds: string): string =>
    `  - { name: timer, description: Waits., adapter: timer, target: { seconds: ${seconds} }, task: { pollIntervalMs: 250 } }`;
  const configuration = (seconds: string): string =>
    `store: "memory:"\nadapters:\n  timer: { use: ./timer-adapter.mjs }\ntools:\n${tool(seconds)}\n`;
  writeFileSync(join(bench.folder, "timer.yaml"), configuration("1"));
  const called = await bench.runSpawned([
    "call",
    "timer",
    "--input",
    '{"said":"yes"}',
    "--config",
    "timer.yaml",
    "--json",
  ]);
  expect(documentOf(called)).toMatchObject({ state: "succeeded", result: { said: "yes" } });
  writeFileSync(join(bench.folder, "timer.yaml"), configuration("soon"));
  const refused = await bench.runSpawned(["call", "timer", "--config", "timer.yaml"]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("tools[0].target.seconds: a number is needed"),
  });
});
