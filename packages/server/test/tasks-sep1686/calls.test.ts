import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { sentOn } from "../rev-2025/task-calls.ts";
import { eventually, inTime, stopAll } from "../serve.ts";
import { answerOf, isAnswer, isCreated, open, related, sep1686Rpc } from "./sep1686-session.ts";

afterEach(stopAll);

describe("[M-9] a marked call", () => {
  test("[M-12] [M-10] is told of its task on its own stream, and answered at the end of it", async () => {
    const { draft, backend } = await open();
    const listening = await draft.listen();
    const stream = await draft.call("c-1", { id: "call" });
    const created = await stream.find(isCreated);
    expect(created).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tasks/created",
      params: { _meta: related("c-1") },
    });
    expect((await draft.get("c-1")).result).toMatchObject({ taskId: "c-1", status: "working" });
    expect(stream.messages.some(isAnswer)).toBe(false);
    backend.of().succeed({ files: 14 });
    const result = { content: [{ type: "text", text: '{"files":14}' }], isError: false, _meta: related("c-1") };
    expect(await answerOf(stream)).toEqual({ jsonrpc: "2.0", id: "call", result });
    await inTime(stream.ended);
    expect(stream.messages).toHaveLength(2);
    expect((await draft.request("tasks/result", { taskId: "c-1" })).result).toEqual(result);
    expect(listening.messages).toEqual([]);
    expect(backend.starts()).toBe(1);
  });

  test("[M-6] of a job that fails is answered with its error result, and its task is completed", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1");
    backend.of().fail("exit code 2");
    expect((await answerOf(stream)).result).toMatchObject({ isError: true, _meta: related("c-1") });
    expect((await draft.get("c-1")).result).toMatchObject({ status: "completed" });
  });

  test("[M-6] that fails as such is an error, and its task failed", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1");
    backend.of().fail({ kind: "protocol", code: "lost", reason: "the machine is gone" });
    const error = { code: -32_603, message: "the machine is gone", data: { reason: "lost" } };
    expect((await answerOf(stream)).error).toEqual(error);
    expect((await draft.get("c-1")).result).toMatchObject({ status: "failed", error: "the machine is gone" });
    expect((await draft.request("tasks/result", { taskId: "c-1" })).error).toEqual({
      code: -32_602,
      message: "Cannot retrieve result: Task status is 'failed', not 'completed'",
    });
  });

  test("whose arguments do not fit is answered at once, and there is no task", async () => {
    const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, input }];
    const { draft, backend } = await open({ tools });
    const stream = await draft.call("c-1");
    expect((await answerOf(stream)).result).toMatchObject({ isError: true });
    await inTime(stream.ended);
    expect(stream.messages).toHaveLength(1);
    expect((await draft.get("c-1")).error.message).toBe("Failed to retrieve task: Task not found");
    expect(backend.starts()).toBe(0);
    await draft.begin("c-1", { args: { n: 1 } });
  });

  test("whose start the backend refuses is answered at once, and its ID stays used", async () => {
    const { draft, backend } = await open();
    backend.faults.next("start", { before: { code: "denied", message: "not yours" } });
    expect((await answerOf(await draft.call("c-1"))).result).toMatchObject({ isError: true });
    expect((await draft.get("c-1")).error.message).toContain("Task not found");
    expect((await answerOf(await draft.call("c-1"))).error?.message).toBe("Task ID already exists: c-1");
    expect(backend.starts()).toBe(0);
  });

  test("tells progress to those who ask for it, tied to its task", async () => {
    const clock = fakeClock();
    const { draft, backend } = await open({ clock, store: memoryStore({ clock }), fake: { clock } });
    const stream = await draft.begin("c-1", { meta: { progressToken: "p" } });
    const quiet = await draft.begin("c-2");
    backend.executions[0]?.progress({ done: 3, total: 10 });
    await backend.events.settled();
    await clock.advance(1_000);
    const reported = await stream.find(({ method }) => method === "notifications/progress");
    expect(reported.params).toEqual({
      progressToken: "p",
      progress: 3,
      total: 10,
      message: "3 of 10",
      _meta: related("c-1"),
    });
    await clock.advance(15_000);
    await eventually(() => sentOn("notifications/progress", stream).length === 2);
    expect(sentOn("notifications/progress", quiet)).toEqual([]);
  });

  test("waits on while the client's connection is lost, and everything can be polled", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1");
    stream.close();
    expect(await draft.statusOf("c-1")).toBe("working");
    backend.of().succeed("done");
    await eventually(async () => (await draft.statusOf("c-1")) === "completed");
    expect((await draft.request("tasks/result", { taskId: "c-1" })).result).toMatchObject({ _meta: related("c-1") });
    expect(backend.of().cancels).toEqual([]);
  });

  test("can be polled before its notice, while the backend still takes the start", async () => {
    const { draft, backend } = await open();
    backend.faults.next("start", { delayMs: 300 });
    const stream = await draft.call("c-1");
    await eventually(async () => (await draft.statusOf("c-1")) === "submitted");
    expect(stream.messages).toEqual([]);
    await stream.find(isCreated);
    expect(await draft.statusOf("c-1")).toBe("working");
  });

  test("[M-12] case 6: whose start hangs is told of its task all the same, and a retry starts nothing", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { ackMs: 20 } }];
    const { draft, url, backend } = await open({ tools, limits: { closeGraceMs: 10 } });
    backend.faults.next("start", { before: "hang" });
    const stream = await draft.begin("c-1");
    expect((await draft.get("c-1")).result).toMatchObject({ status: "submitted", pollFrequency: expect.any(Number) });
    stream.close();
    const again = await sep1686Rpc(url);
    const { error } = await answerOf(await again.call("c-1"));
    expect(error).toEqual({ code: -32_602, message: "Task ID already exists: c-1" });
    expect(backend.callsOf("start")).toHaveLength(1);
  });

  test("is waited for no longer than its caller is verified, and its task goes on", async () => {
    const clock = fakeClock();
    let expiresAt = clock.now() + 10_000;
    const expiring = { authenticate: async () => ({ identity: { issuer: "i", subject: "s", expiresAt } }) };
    const { draft, backend } = await open({ clock, store: memoryStore({ clock }), fake: { clock }, auth: expiring });
    const stream = await draft.begin("c-1");
    expiresAt += 3_600_000;
    await clock.advance(10_000);
    await inTime(stream.ended);
    expect(stream.messages.filter(isAnswer)).toEqual([]);
    expect(await draft.statusOf("c-1")).toBe("working");
    expect(backend.of().cancels).toEqual([]);
  });

  test("that is being waited for when the server stops is closed without an answer, and its task goes on", async () => {
    const { draft, server, backend } = await open();
    const stream = await draft.begin("c-1");
    await inTime(server.close());
    await inTime(stream.ended);
    expect(stream.messages.filter(isAnswer)).toEqual([]);
    expect(backend.of().cancels).toEqual([]);
    expect(backend.of().snapshot.status).toBe("running");
  });
});

describe("[M-4] the mark is ignored", () => {
  const tools = [
    { name: "job", adapter: "fake", target: { run: "job" } },
    { name: "never", adapter: "fake", target: { run: "job" }, task: { support: "forbidden" as const } },
  ];
  const plainTools = [
    { name: "plain", inputSchema: {}, call: async () => ({ content: [{ type: "text" as const, text: "here" }] }) },
  ];

  test("by a tool that is never a task", async () => {
    const { draft, backend } = await open({ tools });
    const stream = await draft.call("c-1", { name: "never", mark: { keepAlive: -1 } });
    await eventually(() => backend.starts() === 1);
    backend.of().succeed("done");
    const { result } = await answerOf(stream);
    expect(result).toMatchObject({ content: [{ text: '"done"' }] });
    expect(result).not.toHaveProperty("_meta");
    expect(stream.messages).toHaveLength(1);
    expect((await draft.get("c-1")).error.message).toContain("Task not found");
  });

  test("by an ordinary tool", async () => {
    const { draft } = await open({ plainTools });
    const stream = await draft.call("c-1", { name: "plain" });
    expect((await answerOf(stream)).result).toEqual({ content: [{ type: "text", text: "here" }] });
    expect(stream.messages).toHaveLength(1);
  });

  test.each(["tools/list", "resources/list", "ping"])("by %s", async (method) => {
    const { draft } = await open();
    const _meta = { "modelcontextprotocol.io/task": { taskId: "c-1" } };
    const { result } = await draft.request(method, { _meta });
    expect(result).toEqual((await draft.request(method)).result);
    expect((await draft.get("c-1")).error.message).toContain("Task not found");
  });

  test("[M-1] by a server without the draft", async () => {
    const { draft, backend } = await open({ wires: ["2025-11-25", "none"], waitMs: 20_000 });
    const stream = await draft.call("c-1");
    await eventually(() => backend.starts() === 1);
    backend.of().succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ content: [{ text: '"done"' }], isError: false });
    expect(stream.messages).toHaveLength(1);
    expect((await draft.get("c-1")).error.code).toBe(-32_601);
  });
});

describe("[M-17] calls that wait", () => {
  test("are limited for each owner, and the next is refused before anything starts", async () => {
    const { draft, backend } = await open({ limits: { maxWaitsPerOwner: 1 } });
    const first = await draft.begin("c-1");
    const { error } = await answerOf(await draft.call("c-2"));
    expect(error).toMatchObject({ code: 429, message: expect.stringContaining("maxWaitsPerOwner") });
    expect(error?.data).toEqual({ reason: "limit_exceeded", limit: 1, retryAfterMs: 5_000 });
    expect(backend.starts()).toBe(1);
    expect((await draft.get("c-2")).error.message).toContain("Task not found");
    backend.of().succeed("done");
    await answerOf(first);
    await draft.begin("c-2");
  });

  test("give their place back when they are refused, taken back or lose their stream", async () => {
    const { draft } = await open({ limits: { maxWaitsPerOwner: 1 } });
    await answerOf(await draft.call("../c"));
    (await draft.begin("c-1")).close();
    let tries = 1;
    await eventually(async () => {
      const stream = await draft.call(`c-${++tries}`);
      return isCreated(await stream.find((message) => isCreated(message) || isAnswer(message)));
    });
  });
});
