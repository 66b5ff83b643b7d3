import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { configText, createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

describe("init", () => {
  test("writes a configuration that works at once, and never overwrites one", async () => {
    rmSync(bench.config);
    expect(await bench.run(["init"])).toMatchObject({ code: 0, stderr: "" });
    const written = readFileSync(bench.config, "utf8");
    expect(written).toMatch(
      /^# yaml-language-server: \$schema=https:\/\/unpkg\.com\/taskbridge@[\w.-]+\/taskbridge\.schema\.json\n/,
    );

    const again = await bench.run(["init"]);
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toContain("nothing was written");
    expect(readFileSync(bench.config, "utf8")).toBe(written);

    const input = ["--input", '{"file":"taskbridge.yaml"}', "--json"];
    const outcome = await bench.run(["call", "word_count", "--config", "taskbridge.yaml", ...input]);
    expect(documentOf(outcome)).toMatchObject({ state: "succeeded", result: { bytes: Buffer.byteLength(written) } });
    const missing = await bench.run([
      "call",
      "word_count",
      "--config",
      "taskbridge.yaml",
      "--input",
      '{"file":"nowhere"}',
    ]);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain("failed: exit code 1: ENOENT: no such file or directory, open 'nowhere'");
  });
});

describe("doctor", () => {
  test("a configuration that works: exit code 0", async () => {
    writeFileSync(join(bench.folder, "good.yaml"), `server: { http: { port: 0 } }\n${configText}`);
    const { code, stdout } = await bench.run(["doctor", "--config", "good.yaml"]);
    expect(stdout).toMatch(/^ok {6}node: v/m);
    expect(stdout).toMatch(
      /^ok {6}store: can be read in \d+ ms and written in \d+ ms, survives restarts; 0 tasks under way$/m,
    );
    expect(stdout).toMatch(/^ok {6}tools\[0\]\.target\.command\[0\]: runs .*sh$/m);
    expect(stdout).toMatch(/^ok {6}server\.http\.port: 127\.0\.0\.1:0 is free$/m);
    expect(stdout).not.toMatch(/^(error|warning)/m);
    expect(code).toBe(0);
  });

  test("what is wrong is listed with its place: exit code 1", async () => {
    const text = configText
      .replace(
        "store: sqlite:./tasks.db",
        "store: sqlite:./nowhere/tasks.db\nserver: { http: { port: 0, host: 0.0.0.0 }, auth: { tokens: ./none.json } }",
      )
      .replace("command: [sh", "command: [no-such-program");
    writeFileSync(join(bench.folder, "bad.yaml"), text);
    const { code, stdout } = await bench.run(["doctor", "--config", "bad.yaml"]);
    expect(stdout).toMatch(/^error {3}store: .*nowhere/m);
    expect(stdout).toMatch(/^error {3}tools\[0\]\.target\.command\[0\]: no executable "no-such-program"/m);
    expect(stdout).toMatch(/^error {3}server\.auth\.tokens: .*none\.json/m);
    expect(code).toBe(1);
  });

  test("a configuration that cannot be used: exit code 1, with line and path", async () => {
    writeFileSync(join(bench.folder, "bad.yaml"), configText.replace("use: process", "use: bullmq"));
    const { code, stdout } = await bench.run(["doctor", "--config", "bad.yaml"]);
    expect(stdout).toContain("error   configuration: bad.yaml:3: adapters.local.use: neither");
    expect(code).toBe(1);
  });

  test("memory loses tasks: a warning, and exit code 0", async () => {
    writeFileSync(
      join(bench.folder, "memory.yaml"),
      configText.replace("sqlite:./tasks.db", '"memory:"\nserver: { http: { port: 0 } }'),
    );
    const { code, stdout } = await bench.run(["doctor", "--config", "memory.yaml"]);
    expect(stdout).toMatch(/^warning store: memory: loses every task/m);
    expect(code).toBe(0);
  });
});
