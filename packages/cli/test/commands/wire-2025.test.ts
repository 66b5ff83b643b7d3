import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../eventually.ts";
import { wire2025 } from "../raw-wire.ts";
import { configText, createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
let url: string;
beforeAll(async () => {
  bench = createWorkbench(
    `${configText}  - { name: plain, adapter: local, target: { command: [sh, job.sh, echo] }, task: { support: forbidden } }\n`,
  );
  url = (await bench.serveHere()).url;
});
afterAll(() => bench.dispose());

const onWire = (...args: string[]): string[] => [...args, "--url", url, "--wire", "2025-11-25"];

describe("call --wire 2025-11-25", () => {
  test.each([["echo"], ["plain"]])("prints the result on stdout (%s)", async (tool) => {
    const outcome = await bench.run(onWire("call", tool, "--input", '{"text":"hi"}'));
    expect(outcome).toMatchObject({ code: 0, stdout: '{\n  "text": "hi"\n}\n' });
  });

  test("a large result is fetched part by part", async () => {
    const { code, stdout } = await bench.run(onWire("call", "large"));
    expect([code, stdout.length]).toEqual([0, 300_000 + '{\n  "text": ""\n}\n'.length]);
  });

  test("a job that fails, a tool that is not there, an argument that is missing", async () => {
    const [failed, unknown, missing] = await Promise.all([
      bench.run(onWire("call", "fail", "--json")),
      bench.run(onWire("call", "ehco")),
      bench.run(onWire("call", "wait")),
    ]);
    expect(failed.code).toBe(1);
    expect(documentOf(failed)).toMatchObject({
      state: "failed",
      failure: { reason: "exit code 3: the disk is full", detail: expect.stringContaining("the disk is full") },
    });
    expect(unknown).toMatchObject({ code: 2, stdout: "", stderr: "Unknown tool: ehco (-32602)\n" });
    expect(missing).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("file") });
  });

  test("interrupted: exit code 130, and the command that is told goes on over the same wire", async () => {
    const calling = bench.start(onWire("call", "wait", "--input", '{"file":"legacy"}'));
    await calling.sees(/1\/2 half way/);
    calling.kill("SIGINT");
    const { code, stderr } = await calling.done;
    const [, taskId = "", flags = ""] = /taskbridge tasks watch (\S+) (.+)\n/.exec(stderr) ?? [];
    expect([code, flags]).toEqual([130, `--url ${url} --wire 2025-11-25`]);
    const shown = documentOf(await bench.run(["tasks", "show", taskId, ...flags.split(" "), "--json"]));
    expect(shown).toMatchObject({ taskId, state: "running", progress: { done: 1, total: 2, message: "half way" } });
    bench.release("legacy");
    const watched = await bench.run(["tasks", "watch", taskId, ...flags.split(" ")]);
    expect(watched).toMatchObject({ code: 0, stdout: '{\n  "waited": true\n}\n' });
  });
});

describe("tasks --wire 2025-11-25", () => {
  test("list, cancel at once, and not again", async () => {
    const calling = bench.start(onWire("call", "wait", "--input", '{"file":"never"}'));
    await calling.sees(/half way/);
    const { tasks } = documentOf(await bench.run(onWire("tasks", "list", "--json"))) as { tasks: { taskId: string }[] };
    const [newest] = tasks;
    expect(newest).toMatchObject({ state: "running", progress: { done: 1, total: 2 } });
    const taskId = newest?.taskId ?? "";
    expect(await bench.run(onWire("tasks", "cancel", taskId))).toMatchObject({ code: 0, stdout: "cancelled\n" });
    expect(await calling.done).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("cancelled: ") });
    expect(await bench.run(onWire("tasks", "cancel", taskId))).toMatchObject({
      code: 1,
      stderr: "the task has ended already: cancelled\n",
    });
    expect(documentOf(await bench.run(onWire("tasks", "show", taskId, "--json")))).toMatchObject({
      state: "cancelled",
    });
  });

  test("answer: exit code 2, because the wire has no request for it", async () => {
    const outcome = await bench.run(onWire("tasks", "answer", "any", "--action", "accept"));
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain("MCP 2025-11-25 has no request that answers a question");
    expect(outcome.stderr).toContain(`taskbridge tasks watch any --url ${url} --wire 2025-11-25`);
  });

  test("an unknown ID; a wire that tasks do not have", async () => {
    const [unknown, none] = await Promise.all([
      bench.run(onWire("tasks", "show", "nowhere")),
      bench.run(["tasks", "show", "nowhere", "--url", url, "--wire", "none"]),
    ]);
    expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: "Task not found (-32602)\n" });
    expect(none).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("The wire none is not available"),
    });
  });
});

test("what the file says of the wire reaches the server", async () => {
  const settings =
    "server: { legacyErrorStatus: completed, allowModelAnswers: true }\nlimits: { maxSessions: 1, sessionIdleMs: 60000 }\n";
  const file = join(bench.folder, "settings.yaml");
  writeFileSync(file, `${settings}${configText}`);
  const server = await bench.serveHere(["--port", "0", "--config", file]);
  // Only a model can be asked here, which a server that does not allow it never says is wanted.
  const session = await wire2025(server.url, { sampling: {} });
  const statusOf = async (tool: string, status: string): Promise<Record<string, unknown>> => {
    const { result } = await session.request("tools/call", { name: tool, arguments: {}, task: {} });
    const { taskId } = (result?.["task"] ?? {}) as { taskId: string };
    let seen: Record<string, unknown> = {};
    await eventually(async () => {
      seen = (await session.request("tasks/get", { taskId })).result ?? {};
      return seen["status"] === status;
    });
    return seen;
  };
  const asking = await statusOf("ask", "input_required");
  expect(await session.request("tasks/cancel", { taskId: asking["taskId"] })).toMatchObject({
    result: { status: "cancelled" },
  });
  expect(await statusOf("fail", "completed")).toMatchObject({ statusMessage: "exit code 3: the disk is full" });
  // A session that is in use makes no room for the next.
  const { result } = await session.request("tools/call", { name: "wait", arguments: { file: "settled" }, task: {} });
  const waiting = session.request("tasks/result", { ...(result?.["task"] as object) });
  await eventually(async () => {
    const next = await wire2025(server.url);
    return (await next.request("ping", {})).error?.message === "Session not found";
  });
  bench.release("settled");
  expect((await waiting).result).toMatchObject({ isError: false });
});
