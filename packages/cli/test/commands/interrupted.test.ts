import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type FakeAnswers, type FakeServer, fakeServer } from "../fake-server.ts";
import type { Running } from "../run-here.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
let server: FakeServer;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(async () => {
  await bench.dispose();
  await server.close();
});

const never = new Promise<never>(() => {});
const plain = { capabilities: { tools: {} } };

/** Does not answer this method. */
const silentOn = (silent: string, more: FakeAnswers = {}): FakeAnswers => ({
  ...more,
  answer: ({ method }) => (method === silent ? never : undefined),
});

/** Starts a command and interrupts it once the server has seen the method. */
const interruptAt = async (method: string, args: readonly string[], answers: FakeAnswers): Promise<Running> => {
  server = await fakeServer(answers);
  const command = bench.start([...args, "--url", server.url, "--json"]);
  await server.sees(method);
  command.kill("SIGINT");
  return command;
};

/** The same with a process of its own, which has to send all before it ends. */
const interruptSpawnedAt = async (method: string, args: readonly string[], answers: FakeAnswers) => {
  server = await fakeServer(answers);
  const command = bench.spawn([...args, "--url", server.url, "--json"]);
  await server.sees(method);
  command.kill("SIGINT");
  return command;
};

/** The same, and all that an interrupted command waits for the server passes at once. */
const interruptLateAt = async (method: string, args: readonly string[], answers: FakeAnswers): Promise<Running> => {
  server = await fakeServer(answers);
  const command = bench.start([...args, "--url", server.url, "--json"]);
  await server.sees(method);
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate", "Date", "performance"] });
  command.kill("SIGINT");
  jest.advanceTimersByTime(3_000);
  jest.useRealTimers();
  return command;
};

const sentMethods = (): readonly string[] => server.sent.map(({ method }) => method);

describe("Ctrl-C while connecting", () => {
  test.each(["auto", "2025-11-25", "sep-1686", "none"])("ends a call, and nothing is sent (%s)", async (wire) => {
    const first = wire === "auto" || wire === "none" ? "server/discover" : "initialize";
    const calling = await interruptAt(first, ["call", "job", "--wire", wire], silentOn(first));
    const outcome = await calling.done;
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toBe("Interrupted: nothing was sent.\n");
    expect(documentOf(outcome)).toEqual({
      error: { code: "interrupted", message: "Interrupted: nothing was sent." },
    });
    expect(sentMethods()).not.toContain("tools/call");
  });

  test("ends a watch", async () => {
    const args = ["tasks", "watch", "T1", "--wire", "2025-11-25"];
    const outcome = await (await interruptAt("initialize", args, silentOn("initialize"))).done;
    expect(outcome).toMatchObject({ code: 130, stderr: "Interrupted: nothing was sent.\n" });
  });
});

describe("Ctrl-C during the call", () => {
  test("while the answer with the task is on its way: its ID, the command and the document are printed", async () => {
    let release = (): void => {};
    const released = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    const calling = await interruptAt("tools/call", ["call", "job", "--wire", "2025-11-25"], {
      answer: ({ method }) => (method === "tools/call" ? released : undefined),
    });
    await calling.sees(/waiting for the ID of the task/);
    release();
    const outcome = await calling.done;
    expect(outcome.code).toBe(130);
    expect(documentOf(outcome)).toMatchObject({ taskId: "T1", state: "running" });
    expect(outcome.stderr).toContain(`taskbridge tasks watch T1 --url ${server.url} --wire 2025-11-25\n`);
    expect(sentMethods()).not.toContain("tasks/cancel");
  });

  test("of a server that never answers: the wait ends all the same", async () => {
    const args = ["call", "job", "--wire", "2025-11-25"];
    const outcome = await (await interruptLateAt("tools/call", args, silentOn("tools/call"))).done;
    expect(outcome.code).toBe(130);
    expect(documentOf(outcome)).toMatchObject({
      error: { code: "interrupted", message: expect.stringContaining("may run it all the same") },
    });
  });

  test("of a server that has told the task and no more", async () => {
    const args = ["call", "job", "--wire", "2025-11-25"];
    const outcome = await (await interruptAt("tasks/get", args, silentOn("tasks/get"))).done;
    expect(outcome.code).toBe(130);
    expect(outcome.stdout).toContain('"taskId": "T1"');
    expect(outcome.stderr).toContain("taskbridge tasks watch T1 ");
  });

  test("of a result that does not come", async () => {
    const answers = { task: { status: "completed" } };
    const args = ["call", "job", "--wire", "2025-11-25"];
    const outcome = await (await interruptLateAt("tasks/result", args, silentOn("tasks/result", answers))).done;
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toContain("taskbridge tasks watch T1 ");
  });

  test("that nothing can lead back to: it is cancelled", async () => {
    const args = ["call", "job", "--wire", "none"];
    const outcome = await (await interruptSpawnedAt("tools/call", args, silentOn("tools/call", plain))).done;
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toMatch(/Interrupted: the call was cancelled\.\n$/);
    expect(documentOf(outcome)).toEqual({
      error: { code: "interrupted", message: "Interrupted: the call was cancelled." },
    });
    expect(sentMethods()).toContain("notifications/cancelled");
  });

  test("whose ID is ours: it is cancelled, and what is not confirmed is told with the ID", async () => {
    const args = ["call", "job", "--wire", "sep-1686"];
    const outcome = await (await interruptSpawnedAt("tools/call", args, silentOn("tools/call", plain))).done;
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toMatch(
      /may run it all the same\.\n {2}taskbridge tasks watch \S+ --url \S+ --wire sep-1686\n$/,
    );
    expect(documentOf(outcome)).toMatchObject({ error: { code: "interrupted", taskId: expect.any(String) } });
    expect(sentMethods()).toContain("notifications/cancelled");
  });
});

test("Ctrl-C before the first look of a watch: the task and the command are told", async () => {
  const args = ["tasks", "watch", "T1", "--wire", "2025-11-25"];
  const outcome = await (await interruptAt("tasks/get", args, silentOn("tasks/get"))).done;
  expect(outcome.code).toBe(130);
  expect(documentOf(outcome)).toMatchObject({ error: { code: "interrupted", taskId: "T1" } });
  expect(outcome.stderr).toContain(`taskbridge tasks watch T1 --url ${server.url} --wire 2025-11-25\n`);
});

test("a second Ctrl-C ends at once", async () => {
  const calling = await interruptSpawnedAt(
    "tools/call",
    ["call", "job", "--wire", "2025-11-25"],
    silentOn("tools/call"),
  );
  await calling.sees(/once more ends this at once/);
  calling.kill("SIGINT");
  expect((await calling.done).code).toBe(130);
});

test.each([
  ["list", "tasks/list", ["list"]],
  ["show", "tasks/get", ["show", "T1"]],
  ["cancel", "tasks/get", ["cancel", "T1"]],
])("Ctrl-C while a server does not answer `tasks %s`", async (_name, method, args) => {
  const outcome = await (await interruptAt(method, ["tasks", ...args, "--wire", "2025-11-25"], silentOn(method))).done;
  expect(outcome.code).toBe(130);
  expect(documentOf(outcome)).toMatchObject({ error: { code: "interrupted" } });
});
