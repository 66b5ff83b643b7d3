import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { configText, createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

const call = (tool: string, ...flags: string[]): string[] => ["call", tool, "--config", bench.config, ...flags];

describe("call --config", () => {
  test("prints the result on stdout and the progress on stderr", async () => {
    const outcome = await bench.run(call("echo", "--input", '{"text":"hi"}'));
    expect(outcome).toMatchObject({ code: 0, stdout: '{\n  "text": "hi"\n}\n' });
  });

  test("--json prints one document", async () => {
    const outcome = await bench.run(call("echo", "--input", '{"text":"hi"}', "--json"));
    expect(documentOf(outcome)).toMatchObject({
      tool: "echo",
      state: "succeeded",
      result: { text: "hi" },
      questions: [],
    });
    expect(outcome.code).toBe(0);
  });

  test("prints a text result as it is", async () => {
    expect(await bench.run(call("text"))).toMatchObject({ code: 0, stdout: "plain text\n" });
  });

  test("prints a large result whole", async () => {
    const { code, stdout } = await bench.run(call("large"));
    expect([code, stdout.length]).toEqual([0, 300_000 + '{\n  "text": ""\n}\n'.length]);
  });

  test("reads the arguments from a file and from stdin", async () => {
    writeFileSync(join(bench.folder, "input.json"), '{"text":"from a file"}');
    const file = await bench.run(call("echo", "--input-file", "input.json", "--json"));
    const stdin = await bench.runSpawned(call("echo", "--input-file", "-", "--json"), '{"text":"from stdin"}');
    expect(documentOf(file)["result"]).toEqual({ text: "from a file" });
    expect(documentOf(stdin)["result"]).toEqual({ text: "from stdin" });
    expect(stdin.code).toBe(0);
  });

  test("a job that fails: exit code 1, the reason on stderr", async () => {
    const outcome = await bench.run(call("fail"));
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toContain("failed: exit code 3: the disk is full");
    const json = await bench.run(call("fail", "--json"));
    expect(documentOf(json)).toMatchObject({
      state: "failed",
      failure: { reason: "exit code 3: the disk is full", code: "3" },
    });
  });

  test.each([
    ["an unknown tool", ["ehco"], 'there is no tool "ehco"; the configuration has echo, text, large, fail, wait, ask'],
    ["arguments that are no JSON", ["echo", "--input", "{"], "--input: not JSON"],
    ["arguments that are no object", ["echo", "--input", "[1]"], "--input: a JSON object is needed, got [1]"],
    ["a missing argument", ["wait"], "this tool needs the argument"],
    ["a file that is not there", ["echo", "--input-file", "nowhere.json"], "nowhere.json cannot be read (ENOENT)"],
    ["both kinds of arguments", ["echo", "--input", "{}", "--input-file", "x"], "give either --input or --input-file"],
    ["a token without a server", ["echo", "--token", "x"], "--token is for a server: it needs --url"],
    ["a wire without a server", ["echo", "--wire", "none"], "--wire is about a server: it needs --url"],
    ["a wire that it does not speak", ["echo", "--wire", "sep-1234"], "The wire sep-1234 is not available"],
    ["an unknown flag", ["echo", "--inptu", "{}"], "unknown option '--inptu'"],
  ])("%s: exit code 2", async (_name, [tool = "", ...flags], message) => {
    const outcome = await bench.run(call(tool, ...flags));
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain(message);
  });

  test("both --config and --url: exit code 2", async () => {
    expect((await bench.run(call("echo", "--url", "http://127.0.0.1:1/mcp"))).code).toBe(2);
  });

  test("a question is told where there is no terminal, and answered from elsewhere", async () => {
    const calling = bench.start(call("ask", "--json"));
    const [, taskId = ""] = await calling.sees(/taskbridge tasks answer (\S+) --config/);
    const answer = await bench.run(["tasks", "answer", taskId, "--config", bench.config, "--input", '{"ok":true}']);
    expect(answer).toMatchObject({ code: 0 });
    const outcome = await calling.done;
    expect(outcome.stderr).toContain("Delete 14 files?\n  ok: yes or no");
    expect(documentOf(outcome)).toMatchObject({
      state: "succeeded",
      result: { answer: { action: "accept", content: { ok: true } } },
    });
  });

  test("ends although an adapter does not", async () => {
    const adapter = fileURLToPath(new URL("../fixtures/lingering-adapter.mjs", import.meta.url));
    writeFileSync(join(bench.folder, "lingering.yaml"), configText.replace("use: process", `use: ${adapter}`));
    const done = await bench.runSpawned(["call", "large", "--config", "lingering.yaml"]);
    expect([done.code, done.stdout.length]).toEqual([0, 300_000 + '{\n  "text": ""\n}\n'.length]);
    const failed = await bench.runSpawned(["call", "fail", "--config", "lingering.yaml"]);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("the disk is full") });
  });

  test("interrupted: exit code 130, the task goes on and can be watched to its end", async () => {
    const calling = bench.start(call("wait", "--input", '{"file":"interrupted"}'));
    await calling.sees(/1\/2 half way/);
    calling.kill("SIGINT");
    const outcome = await calling.done;
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    const [, taskId = ""] = /The task goes on:\n {2}taskbridge tasks watch (\S+) --config/.exec(outcome.stderr) ?? [];

    bench.release("interrupted");
    const watched = await bench.run(["tasks", "watch", taskId, "--config", bench.config, "--json"]);
    expect(watched.code).toBe(0);
    expect(documentOf(watched)).toMatchObject({ taskId, state: "succeeded", result: { waited: true } });
  });
});

describe("call --url", () => {
  let url: string;
  let withTokens: string;
  const token = "a-very-long-token";
  beforeAll(async () => {
    writeFileSync(join(bench.folder, "tokens.json"), JSON.stringify([{ token, subject: "alice" }]));
    writeFileSync(
      join(bench.folder, "auth.yaml"),
      `server: { auth: { tokens: ./tokens.json }, waitMs: 50 }\n${configText}`,
    );
    url = (await bench.serveHere()).url;
    withTokens = (await bench.serveHere(["--port", "0", "--config", join(bench.folder, "auth.yaml")])).url;
  });

  test.each([
    ["with tasks", []],
    ["with tasks for certain", ["--wire", "2026-07-28"]],
    ["without tasks", ["--wire", "none"]],
  ])("%s", async (_name, flags) => {
    const outcome = await bench.run(["call", "echo", "--url", url, "--input", '{"text":"hi"}', ...flags]);
    expect(outcome).toMatchObject({ code: 0, stdout: '{\n  "text": "hi"\n}\n' });
  });

  test("a large result is fetched part by part", async () => {
    const { code, stdout } = await bench.run(["call", "large", "--url", url]);
    expect([code, stdout.length]).toEqual([0, 300_000 + '{\n  "text": ""\n}\n'.length]);
  });

  test("a job that fails, and a tool that is not there", async () => {
    const [failed, unknown] = await Promise.all([
      bench.run(["call", "fail", "--url", url]),
      bench.run(["call", "ehco", "--url", url]),
    ]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("failed: exit code 3: the disk is full");
    expect(unknown).toMatchObject({ code: 2, stderr: "Unknown tool: ehco (-32602)\n" });
  });

  test("a question is told, and answered over the same wire", async () => {
    const calling = bench.start(["call", "ask", "--url", url, "--json"]);
    const [, taskId = ""] = await calling.sees(/taskbridge tasks answer (\S+) --url/);
    const answer = await bench.run(["tasks", "answer", taskId, "--url", url, "--action", "decline", "--json"]);
    expect(answer.code).toBe(0);
    expect(documentOf(await calling.done)).toMatchObject({ result: { answer: { action: "decline" } } });
  });

  test("without tasks and a terminal, what is asked has a task all the same, whose ID is told", async () => {
    const calling = bench.start(["call", "ask", "--url", withTokens, "--wire", "none", "--token", token, "--json"]);
    const [, taskId = ""] = await calling.sees(/taskbridge tasks answer (\S+) --url/);
    const at = ["--url", withTokens, "--token", token];
    expect((await bench.run(["tasks", "answer", taskId, ...at, "--action", "decline"])).code).toBe(0);
    expect(documentOf(await calling.done)).toMatchObject({ taskId, result: { answer: { action: "decline" } } });
  });

  test("interrupted: the task goes on at the server", async () => {
    const calling = bench.start(["call", "wait", "--url", url, "--input", '{"file":"elsewhere"}']);
    await calling.sees(/1\/2 half way/);
    calling.kill("SIGINT");
    const { code, stderr } = await calling.done;
    const [, taskId = ""] = /taskbridge tasks watch (\S+) --url/.exec(stderr) ?? [];
    expect(code).toBe(130);
    const shown = await bench.run(["tasks", "show", taskId, "--url", url, "--json"]);
    expect(documentOf(shown)).toMatchObject({ state: "running", progress: { done: 1, total: 2, message: "half way" } });
    bench.release("elsewhere");
    expect(await bench.run(["tasks", "watch", taskId, "--url", url])).toMatchObject({ code: 0 });
  });

  test("a token opens a server that asks for one; a handle is followed to its end", async () => {
    const args = ["call", "echo", "--url", withTokens, "--wire", "none", "--json"];
    const [without, byFlag] = await Promise.all([bench.run(args), bench.run([...args, "--token", token])]);
    process.env["TASKBRIDGE_TOKEN"] = token;
    const byVariable = await bench.run(args);
    delete process.env["TASKBRIDGE_TOKEN"];
    expect(without.code).toBe(1);
    expect(without.stderr).toContain("a token is needed, or this one is not accepted");
    expect(documentOf(byFlag)).toMatchObject({ state: "succeeded", result: {} });
    expect(documentOf(byVariable)).toMatchObject({ state: "succeeded" });
  });

  test("a server that is not there: exit code 1, no stack", async () => {
    const outcome = await bench.run(["call", "echo", "--url", "http://127.0.0.1:1/mcp"]);
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/^http:\/\/127\.0\.0\.1:1\/mcp: .*\n$/);
  });
});
