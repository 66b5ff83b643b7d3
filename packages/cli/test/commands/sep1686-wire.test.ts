import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../eventually.ts";
import { configText, createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
let url: string;
beforeAll(async () => {
  bench = createWorkbench();
  const file = join(bench.folder, "draft.yaml");
  writeFileSync(file, `server: { wires: [2025-11-25, sep-1686, none] }\n${configText}`);
  url = (await bench.serveHere(["--port", "0", "--config", file])).url;
});
afterAll(() => bench.dispose());

const onWire = (...args: string[]): string[] => [...args, "--url", url, "--wire", "sep-1686"];

const runningTask = async (): Promise<string | undefined> => {
  const { tasks } = documentOf(await bench.run(onWire("tasks", "list", "--json"))) as {
    tasks: { taskId: string; state: string }[];
  };
  return tasks.find(({ state }) => state === "running")?.taskId;
};

describe("call --wire sep-1686", () => {
  test("prints the result on stdout, also one that is read part by part", async () => {
    expect(await bench.run(onWire("call", "echo", "--input", '{"text":"hi"}'))).toMatchObject({
      code: 0,
      stdout: '{\n  "text": "hi"\n}\n',
    });
    const { code, stdout } = await bench.run(onWire("call", "large"));
    expect([code, stdout.length]).toEqual([0, 300_000 + '{\n  "text": ""\n}\n'.length]);
  });

  test("a job that fails, a tool that is not there, an argument that is missing", async () => {
    const failed = await bench.run(onWire("call", "fail", "--json"));
    expect(failed.code).toBe(1);
    expect(documentOf(failed)).toMatchObject({ state: "failed" });
    expect(failed.stdout + failed.stderr).toContain("the disk is full");
    expect(await bench.run(onWire("call", "ehco"))).toMatchObject({
      code: 2,
      stdout: "",
      stderr: "Unknown tool: ehco (-32602)\n",
    });
    expect(await bench.run(onWire("call", "wait"))).toMatchObject({ code: 1, stderr: expect.stringContaining("file") });
  });

  test("interrupted: exit code 130, and the command that is told goes on over the same wire", async () => {
    const calling = bench.start(onWire("call", "wait", "--input", '{"file":"draft"}'));
    await calling.sees(/running/);
    calling.kill("SIGINT");
    const { code, stderr } = await calling.done;
    const [, taskId = "", flags = ""] = /taskbridge tasks watch (\S+) (.+)\n/.exec(stderr) ?? [];
    expect([code, flags]).toEqual([130, `--url ${url} --wire sep-1686`]);
    expect(documentOf(await bench.run(["tasks", "show", taskId, ...flags.split(" "), "--json"]))).toMatchObject({
      taskId,
      state: "running",
    });
    bench.release("draft");
    expect(await bench.run(["tasks", "watch", taskId, ...flags.split(" ")])).toMatchObject({
      code: 0,
      stdout: '{\n  "waited": true\n}\n',
    });
  });
});

describe("tasks --wire sep-1686", () => {
  test("list, and cancel, which deletes and says so", async () => {
    const calling = bench.start(onWire("call", "wait", "--input", '{"file":"never"}'));
    let taskId: string | undefined;
    await eventually(async () => {
      taskId = await runningTask();
      return taskId !== undefined;
    });
    const cancelled = await bench.run(onWire("tasks", "cancel", taskId ?? ""));
    expect(cancelled).toMatchObject({ code: 0, stdout: "cancelled\n" });
    expect(cancelled.stderr).toContain("the task was deleted");
    // Whichever comes first: the answer of the call, or the next look at its task.
    expect(await calling.done).toMatchObject({ code: 1, stderr: expect.stringMatching(/not found|cancelled: /) });
    expect(await bench.run(onWire("tasks", "show", taskId ?? ""))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not found"),
    });
  });

  test("answer: exit code 2, because the wire has no request for it", async () => {
    const { code, stderr } = await bench.run(onWire("tasks", "answer", "any-id", "--action", "decline"));
    expect(code).toBe(2);
    expect(stderr).toContain("the SEP-1686 draft has no request that answers a question");
  });
});

describe.each(["sep-1686", "2025-11-25"])("a question that cannot be put here, over %s", (wire) => {
  test("is told once, with the command for the server's host", async () => {
    const config = ["--config", join(bench.folder, "draft.yaml")];
    const calling = bench.start(["call", "ask", "--url", url, "--wire", wire, "--json"]);
    const [, taskId = ""] = await calling.sees(
      /On the server's host, this gives it:\n {2}taskbridge tasks answer (\S+)\n/,
    );
    const shown = await bench.run(["tasks", "show", taskId, "--url", url, "--wire", wire]);
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringContaining(`taskbridge tasks answer ${taskId}\n`) });
    expect((await bench.run(["tasks", "answer", taskId, ...config, "--action", "decline"])).code).toBe(0);
    const outcome = await calling.done;
    expect(documentOf(outcome)).toMatchObject({ result: { answer: { action: "decline" } } });
    expect(outcome.stderr.match(/waits for an answer by a person/g)).toHaveLength(1);
    expect((await bench.run(["tasks", "show", taskId, "--url", url, "--wire", wire])).stderr).toBe("");
  });
});
