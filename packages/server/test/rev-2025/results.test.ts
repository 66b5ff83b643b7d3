import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import type { FakeExecution } from "@taskbridge/testkit/adapter";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { callForTask, relatedTo } from "./task-calls.ts";

afterEach(stopAll);

const job = { name: "job", adapter: "fake", target: { run: "job" } };
const count = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
const setUp = async (options?: ServeOptions) => {
  const served = await serve(options);
  const session = await rpc2025(served.url);
  const taskId = await callForTask(session);
  /** Ends the job, and waits until the server knows. */
  const end = async (act: (execution: FakeExecution) => void): Promise<void> => {
    act(served.backend.of());
    await served.backend.events.settled();
  };
  const listed = async () =>
    ((await session.request("tasks/list")).result.tasks as Record<string, unknown>[]).find(
      (task) => task.taskId === taskId,
    );
  return { ...served, session, taskId, end, listed };
};

describe("[B-18] tasks/result", () => {
  test("waits for the end, then answers what the call would have, as often as it is asked", async () => {
    const { session, taskId, end } = await setUp();
    const wait = await session.open("tasks/result", { taskId }, { id: "w1" });
    const other = session.request("tasks/result", { taskId });
    expect(wait.headers.get("content-type")).toMatch("text/event-stream");
    expect((await session.request("tasks/get", { taskId })).result.status).toBe("working");
    expect(wait.messages.filter(({ id }) => id === "w1")).toEqual([]);
    await end((execution) => execution.succeed({ files: 14 }));
    const result = { content: [{ type: "text", text: '{"files":14}' }], isError: false, _meta: relatedTo(taskId) };
    expect((await wait.find(({ id }) => id === "w1")).result).toEqual(result);
    await inTime(wait.ended);
    expect((await other).result).toEqual(result);
    for (let time = 0; time < 2; time++) {
      expect((await session.request("tasks/result", { taskId })).result).toEqual(result);
    }
  });

  const lost = { kind: "protocol", reason: "the machine is gone", code: "lost" } as const;
  test.each<[string, (execution: FakeExecution) => void, object, object]>([
    [
      "success",
      (execution) => execution.succeed({ count: 3 }),
      { status: "completed" },
      { result: { isError: false, structuredContent: { count: 3 } } },
    ],
    [
      "success without the output that was promised",
      (execution) => execution.succeed(),
      { status: "failed", statusMessage: expect.stringContaining("does not fit the tool's output schema") },
      { result: { isError: true } },
    ],
    [
      "output that does not fit the schema",
      (execution) => execution.succeed({ count: "three" }),
      { status: "failed", statusMessage: expect.stringContaining("does not fit the tool's output schema") },
      { result: { isError: true, content: [{}, { text: '{"count":"three"}' }] } },
    ],
    [
      "[B-7] case 17: a failed job",
      (execution) => execution.fail("exit code 2"),
      { status: "failed", statusMessage: "exit code 2" },
      { result: { isError: true, content: [{ type: "text", text: "exit code 2" }] } },
    ],
    [
      "[B-8] a call that could not be carried out",
      (execution) => execution.fail(lost),
      { status: "failed", statusMessage: "the machine is gone" },
      { error: { code: -32_603, message: "the machine is gone", data: { reason: "lost" } } },
    ],
    [
      "a stop by somebody else",
      (execution) => execution.stop("by hand"),
      { status: "failed", statusMessage: expect.stringContaining("by hand") },
      { error: { code: -32_603, message: expect.stringContaining("by hand") } },
    ],
  ])("of %s agrees with tasks/get and tasks/list", async (_name, act, shown, answer) => {
    const { session, taskId, end, listed } = await setUp({ tools: [{ ...job, output: count }] });
    const wait = session.request("tasks/result", { taskId });
    await end(act);
    expect(await wait).toMatchObject({ status: 200, ...answer });
    expect(await session.request("tasks/result", { taskId })).toMatchObject(answer);
    expect((await session.request("tasks/get", { taskId })).result).toMatchObject({ taskId, ...shown });
    expect(await listed()).toMatchObject({ taskId, ...shown });
    if ("result" in answer) expect((await wait).result._meta).toEqual(relatedTo(taskId));
  });

  test("[B-7] of a failed job says so also where such tasks are to be shown as completed", async () => {
    const { session, taskId, end, listed } = await setUp({ legacyErrorStatus: "completed" });
    await end((execution) => execution.fail("exit code 2"));
    const shown = { status: "completed", statusMessage: "exit code 2" };
    expect((await session.request("tasks/get", { taskId })).result).toMatchObject(shown);
    expect(await listed()).toMatchObject(shown);
    expect((await session.request("tasks/result", { taskId })).result).toMatchObject({
      isError: true,
      content: [{ text: "exit code 2" }],
    });
    const failed = await callForTask(session);
    await end((execution) => execution.fail({ kind: "protocol", reason: "lost", code: "lost" }));
    expect((await session.request("tasks/get", { taskId: failed })).result.status).toBe("failed");
  });

  test("case 30: too large for one answer is a preview and where to read on", async () => {
    const { session, taskId, end } = await setUp();
    await end((execution) => execution.succeedWithStream("x".repeat(100_000)));
    const { result } = await session.request("tasks/result", { taskId });
    expect(result).toMatchObject({
      isError: false,
      content: [{ text: "x".repeat(8_192) }, { type: "text" }, { type: "resource_link", size: 100_000 }],
      _meta: relatedTo(taskId),
    });
    const [, , link] = result.content as { uri: string }[];
    const read = await session.request("resources/read", { uri: link?.uri });
    expect(JSON.stringify(read.result)).toContain("x".repeat(1_000));
  });

  test("[B-19] of a task that goes while somebody waits is an error", async () => {
    const clock = fakeClock();
    const kept = memoryStore({ clock });
    const store = { ...kept, close: async () => {} };
    const { session, taskId, backend } = await setUp({ store, clock, fake: { clock } });
    const wait = session.request("tasks/result", { taskId });
    const another = await serve({ store, clock, adapters: { fake: backend.connect() } });
    await another.server.engine.deleteTask(taskId, { operator: true });
    await eventually(async () => {
      await clock.advance(1_000);
      return Promise.race([wait.then(() => true), clock.settle().then(() => false)]);
    });
    expect((await wait).error).toMatchObject({
      code: -32_602,
      message: expect.stringMatching(/^Task (not found|has expired)$/),
    });
  });

  test("[B-19] of a task whose time is over is an error that says so", async () => {
    const clock = fakeClock();
    const tools = [{ ...job, task: { retentionMs: 60_000 } }];
    const { session, taskId, end } = await setUp({ tools, clock, store: memoryStore({ clock }), fake: { clock } });
    await end((execution) => execution.succeed(1));
    await clock.advance(59_999);
    expect((await session.request("tasks/result", { taskId })).result.isError).toBe(false);
    await clock.advance(1);
    for (const method of ["tasks/result", "tasks/get", "tasks/cancel"]) {
      const { error } = await session.request(method, { taskId });
      expect([method, error.code, error.message]).toEqual([
        method,
        -32_602,
        expect.stringMatching(/^Task (not found|has expired)$/),
      ]);
    }
    expect((await session.request("tasks/list")).result.tasks).toEqual([]);
  });
});

describe("[B-20] a wait for a result that is given up", () => {
  test("by a cancellation ends, with its stream; the task, and other waits, go on", async () => {
    const { session, taskId, end, backend } = await setUp();
    const wait = await session.open("tasks/result", { taskId }, { id: "w1" });
    const other = await session.open("tasks/result", { taskId }, { id: "w2" });
    const params = { requestId: "w1", reason: "no time" };
    expect(await session.send({ method: "notifications/cancelled", params })).toBe(202);
    await inTime(wait.ended);
    expect(wait.messages).toEqual([]);
    expect((await session.request("tasks/get", { taskId })).result.status).toBe("working");
    await end((execution) => execution.succeed(1));
    expect((await other.find(({ id }) => id === "w2")).result).toMatchObject({ isError: false });
    expect(backend.callsOf("cancel")).toEqual([]);
    // The same ID can be used again.
    expect((await session.request("tasks/result", { taskId }, { id: "w1" })).result).toMatchObject({ isError: false });
  });

  test("is only that one: a cancellation of an answered call, or from another session, ends nothing", async () => {
    const { session, backend, url } = await setUp();
    const { result } = await session.request("tools/call", { name: "job", task: {} }, { id: "made" });
    const { taskId } = result.task as { taskId: string };
    const wait = await session.open("tasks/result", { taskId }, { id: "w1" });
    for (const requestId of ["made", "w2", 77, null]) {
      expect([202, 400]).toContain(await session.send({ method: "notifications/cancelled", params: { requestId } }));
    }
    const another = await rpc2025(url);
    await another.send({ method: "notifications/cancelled", params: { requestId: "w1" } });
    backend.of().succeed(1);
    expect((await wait.find(({ id }) => id === "w1")).result).toMatchObject({ isError: false });
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("case 13: by a client that leaves changes nothing for the task", async () => {
    const { session, taskId, end, backend } = await setUp();
    const wait = await session.open("tasks/result", { taskId });
    wait.close();
    await inTime(wait.ended);
    await end((execution) => execution.succeed(1));
    expect((await session.request("tasks/result", { taskId })).result).toMatchObject({ isError: false });
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("case 1: by a server that stops gets no answer, and its owner finds the task in a new session", async () => {
    const kept = memoryStore();
    const store = { ...kept, close: async () => {} };
    const { session, taskId, server, backend } = await setUp({ store });
    const wait = await session.open("tasks/result", { taskId });
    const own = await session.listen();
    const began = Date.now();
    await inTime(server.close());
    expect(Date.now() - began).toBeLessThan(3_000);
    await inTime(Promise.all([wait.ended, own.ended]));
    expect([...wait.messages, ...own.messages].filter(({ method }) => method === undefined)).toEqual([]);
    expect(backend.callsOf("cancel")).toEqual([]);
    const next = await serve({ store, adapters: { fake: backend.connect() } });
    const back = await rpc2025(next.url);
    expect((await back.request("tasks/get", { taskId })).result.status).toBe("working");
    const result = back.request("tasks/result", { taskId });
    backend.of().succeed("done");
    expect((await result).result).toMatchObject({ content: [{ text: '"done"' }], _meta: relatedTo(taskId) });
    expect((await back.request("tasks/list")).result.tasks).toMatchObject([{ taskId, status: "completed" }]);
  });
});
