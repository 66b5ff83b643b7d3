import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type FakeServer, fakeServer } from "../fake-server.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench | undefined;
let server: FakeServer | undefined;
afterEach(async () => {
  await bench?.dispose();
  await server?.close();
});

/** What a terminal or a shell would obey, without line breaks and what separates columns. */
const unsafe = /[^\n -~�]/u;

const ids = ["T\u001b]0;pwned\u0007\u001b[2J", "x;touch${IFS}PWNED", "a\nSTATE succeeded", "a\u202Eb\u200Bc"];

describe.each(ids)("a server whose tasks are called %j", (taskId) => {
  test.each([
    ["a task that waits for an answer", { status: "input_required", statusMessage: "\u001b[31mmsg\u202E\u0007" }],
    ["a task that has failed", { status: "failed", statusMessage: "no\u001b[2J\u200B" }],
    ["a task that was cancelled", { status: "cancelled" }],
  ])("%s is shown in a safe way", async (_name, task) => {
    bench = createWorkbench();
    server = await fakeServer({ task: { taskId, ...task } });
    for (const args of [
      ["list"],
      ["list", "--json"],
      ["show", taskId],
      ["show", taskId, "--json"],
      ["answer", taskId, "--action", "accept"],
      ...(task.status === "input_required" ? [] : [["watch", taskId]]),
    ]) {
      const { stdout, stderr } = await bench.run(["tasks", ...args, "--url", server.url, "--wire", "2025-11-25"]);
      expect(stdout + stderr).not.toMatch(unsafe);
      expect(stdout + stderr).not.toMatch(/^ *STATE succeeded/m);
    }
  });

  test("a hint is one command about that task and nothing else", async () => {
    bench = createWorkbench();
    server = await fakeServer({ task: { taskId } });
    const { url } = server;
    const calling = bench.start(["call", "job", "--url", url]);
    await calling.sees(/running/);
    calling.kill("SIGINT");
    const { code, stderr } = await calling.done;
    expect(code).toBe(130);
    expect(stderr).not.toMatch(unsafe);
    const [, command = ""] = /\n {2}taskbridge (.*)\n$/.exec(stderr) ?? [];
    expect(wordsOf(command)).toEqual(["tasks", "watch", taskId, "--url", url, "--wire", "2025-11-25"]);
  });
});

test("progress on several lines looks like nothing else", async () => {
  bench = createWorkbench();
  server = await fakeServer({ task: { statusMessage: "a\nInterrupted. The task goes on:\n  taskbridge init" } });
  const calling = bench.start(["call", "job", "--url", server.url]);
  await calling.sees(/running {2}a Interrupted\. The task goes on: taskbridge init\n/);
  calling.kill("SIGINT");
  expect((await calling.done).code).toBe(130);
});

describe("a server that keeps its tasks for longer than any calendar", () => {
  test.each([
    [["call", "job", "--json"], { state: "succeeded", result: "fine" }],
    [["tasks", "show", "T1", "--json", "--wire", "2025-11-25"], { state: "succeeded" }],
    [["tasks", "list", "--json", "--wire", "2025-11-25"], { tasks: [{ taskId: "T1" }] }],
    [["tasks", "watch", "T1", "--json", "--wire", "2025-11-25"], { state: "succeeded" }],
  ])("%j prints its document", async (args, document) => {
    bench = createWorkbench();
    server = await fakeServer({ task: { ttl: 1e300, status: "completed" } });
    const outcome = await bench.run([...args, "--url", server.url]);
    expect(outcome.code).toBe(0);
    expect(documentOf(outcome)).toMatchObject(document);
    expect(outcome.stdout).not.toContain("expiresAt");
  });
});

test("a server without tasks that asks although nobody can be asked: exit code 1, and why", async () => {
  bench = createWorkbench();
  const inputRequests = { q: { method: "elicitation/create", params: { mode: "form", message: "Sure?" } } };
  server = await fakeServer({
    answer: ({ method }) =>
      method === "tools/call" ? { result: { resultType: "input_required", inputRequests } } : undefined,
  });
  const outcome = await bench.run(["call", "job", "--url", server.url, "--wire", "none", "--json"]);
  expect(outcome).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the tool asks a person before it answers"),
  });
  expect(documentOf(outcome)).toMatchObject({ error: { code: "unsupported" } });
});

test("a task whose ID begins with a dash: the hint is pasted as it is told", async () => {
  bench = createWorkbench();
  server = await fakeServer({ task: { taskId: "-rf" } });
  const calling = bench.start(["call", "job", "--url", server.url]);
  await calling.sees(/running/);
  calling.kill("SIGINT");
  const [, command = ""] = /\n {2}taskbridge tasks watch (.*)\n$/.exec((await calling.done).stderr) ?? [];
  const shown = await bench.run(["tasks", "show", "--json", ...wordsOf(command)]);
  expect(documentOf(shown)).toMatchObject({ taskId: "-rf", state: "running" });
});

/** The words of a command, as bash reads them. */
function wordsOf(command: string): string[] {
  return execFileSync("bash", ["-c", `printf '%s\\0' ${command}`])
    .toString()
    .split("\0")
    .slice(0, -1);
}
