import { afterEach, describe, expect, test } from "@jest/globals";
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { memoryStore } from "@taskbridge/core/memory";
import { form, isElicitation, reply, yes } from "../rev-2025/task-calls.ts";
import { eventually, inTime, start, stopAll } from "../serve.ts";
import { answerOf, auth, bearer, isAnswer, open, type Sep1686Rpc, sep1686Rpc, wires } from "./sep1686-session.ts";

afterEach(stopAll);

const cancel = (session: Sep1686Rpc, requestId: string | number, reason = "no longer needed"): Promise<number> =>
  session.send({ method: "notifications/cancelled", params: { requestId, reason } });

/** What the SDKs send when their own patience is at its end. */
const timedOut = "McpError: MCP error -32001: Request timed out";

describe("[M-14] notifications/cancelled with the ID of the call", () => {
  test.each(["call", 7, 0])("cancels the task at once, and closes the stream without an answer (ID %j)", async (id) => {
    const { draft, rpc, backend } = await open({ fake: { traits: { cancel: "requested" }, onCancel: () => {} } });
    const stream = await draft.begin("c-1", { id });
    expect(await cancel(draft, id)).toBe(202);
    await inTime(stream.ended);
    expect(stream.messages.filter(isAnswer)).toEqual([]);
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    expect((await rpc("tasks/get", { taskId: "c-1" })).result).toMatchObject({ status: "cancelled" });
    await eventually(() => backend.of().cancels.length === 1);
    backend.of().succeed("late");
    await backend.events.settled();
    expect(await draft.statusOf("c-1")).toBe("cancelled");
  });

  test("drops what the task asks, and late answers with it", async () => {
    const { draft, backend } = await open({
      session: { capabilities: form },
      fake: { traits: { cancel: "requested" }, onCancel: () => {} },
      limits: { closeGraceMs: 10 },
    });
    const stream = await draft.begin("c-1", { id: "call" });
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await stream.find(isElicitation);
    await cancel(draft, "call");
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    await reply(draft, asked);
    expect(backend.of().answers).toEqual([]);
    expect(await draft.statusOf("c-1")).toBe("cancelled");
  });

  test("cancels also after the stream of the call was lost", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1", { id: "call" });
    stream.close();
    await stream.ended;
    // Until the server has noticed, it is just a call that is cancelled.
    await draft.get("c-1");
    await cancel(draft, "call");
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    await eventually(() => backend.of().cancels.length === 1);
  });

  test("before anything is started starts nothing", async () => {
    const prepare = () => ({ questions: { who: { message: "Who?" } } });
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, prepare }];
    const { draft, backend } = await open({ tools, session: { capabilities: form } });
    const stream = await draft.call("c-1", { id: "call" });
    await stream.find(isElicitation);
    await cancel(draft, "call");
    await inTime(stream.ended);
    expect((await draft.get("c-1")).error.message).toContain("Task not found");
    expect(backend.starts()).toBe(0);
  });

  test("in the same moment as the call starts nothing", async () => {
    const { server, backend } = await start({ wires });
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    const received: unknown[] = [];
    mine.onmessage = (message) => void received.push(message);
    await mine.start();
    void server.serveStdio({ transport: theirs });
    const send = (message: object): Promise<void> => mine.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    await send({ id: "open", method: "initialize", params });
    await eventually(() => received.length === 1);
    const _meta = { "modelcontextprotocol.io/task": { taskId: "c-1" } };
    await Promise.all([
      send({ id: "call", method: "tools/call", params: { name: "job", _meta } }),
      send({ method: "notifications/cancelled", params: { requestId: "call" } }),
    ]);
    await send({ id: "get", method: "tasks/get", params: { taskId: "c-1" } });
    await eventually(() => received.length === 2);
    expect(received[1]).toMatchObject({ id: "get", error: { message: expect.stringContaining("Task not found") } });
    expect(backend.starts()).toBe(0);
  });

  test("while the backend still takes the start, cancels the task at once and stops the execution", async () => {
    const { draft, backend } = await open();
    backend.faults.next("start", { delayMs: 1_000 });
    const stream = await draft.call("c-1", { id: "call" });
    await eventually(() => backend.callsOf("start").length === 1);
    await cancel(draft, "call");
    await inTime(stream.ended);
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    expect(backend.starts()).toBe(0);
    await eventually(() => backend.starts() === 1 && backend.of().cancels.length === 1);
  });

  test("while the backend still takes the start, is not forgotten when the server stops", async () => {
    const store = { ...memoryStore(), close: async () => {} };
    const { draft, server, backend } = await open({ store, limits: { closeGraceMs: 10 } });
    backend.faults.next("start", { before: "hang" });
    await draft.call("c-1", { id: "call" });
    await eventually(() => backend.callsOf("start").length === 1);
    await cancel(draft, "call");
    await inTime(server.close());
    const { records } = await store.list({ operator: true }, {}, undefined, 10);
    expect(records).toMatchObject([{ state: "cancelled", cancel: { isFinal: true } }]);
  });

  test("is ignored once the task has ended", async () => {
    const { draft, backend } = await open();
    const answered = await draft.begin("c-1", { id: "answered" });
    const left = await draft.begin("c-2", { id: "left" });
    left.close();
    for (const { succeed } of backend.executions) succeed("done");
    await answerOf(answered);
    await eventually(async () => (await draft.statusOf("c-2")) === "completed");
    await cancel(draft, "answered");
    await cancel(draft, "left");
    await draft.request("ping");
    expect([await draft.statusOf("c-1"), await draft.statusOf("c-2")]).toEqual(["completed", "completed"]);
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("is of its session alone: another's, and an ID that was never used, cancel nothing", async () => {
    const { draft, url, backend } = await open({ auth, session: bearer("alice") });
    const stream = await draft.begin("c-1", { id: "call" });
    const [again, bob] = await Promise.all([sep1686Rpc(url, bearer("alice")), sep1686Rpc(url, bearer("bob"))]);
    for (const session of [again, bob]) {
      expect(await cancel(session, "call")).toBe(202);
      await session.request("ping");
    }
    await cancel(draft, "never");
    await cancel(draft, "c-1");
    await draft.request("ping");
    expect(await draft.statusOf("c-1")).toBe("working");
    backend.of().succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ isError: false });
  });

  test.each(["the build timed out before, stop it", "no timeout please", "TimeoutError: aborted due to timeout"])(
    "is not mistaken for an SDK's own timeout: %s",
    async (reason) => {
      const { draft } = await open();
      await draft.begin("c-1", { id: "call" });
      await cancel(draft, "call", reason);
      await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    },
  );

  test("that was used again is about the later call", async () => {
    const { draft } = await open();
    (await draft.begin("c-1", { id: "call" })).close();
    await eventually(async () => (await draft.call("c-1", { id: "call" })).status === 200);
    await draft.begin("c-2", { id: "call" });
    await cancel(draft, "call");
    await eventually(async () => (await draft.statusOf("c-2")) === "cancelled");
    expect(await draft.statusOf("c-1")).toBe("working");
  });

  test("that was used again by an unmarked request is about that one", async () => {
    const { draft } = await open();
    const lost = await draft.begin("c-1", { id: "call" });
    lost.close();
    await eventually(async () => (await draft.open("tools/list", {}, { id: "call" })).status === 200);
    await cancel(draft, "call");
    await draft.request("ping");
    expect(await draft.statusOf("c-1")).toBe("working");
  });
});

describe("[M-14] a client that repeats its call", () => {
  test("under the same request ID, because it has lost the stream, cancels its task by that ID", async () => {
    const { draft, backend } = await open();
    (await draft.begin("c-1", { id: "call" })).close();
    await eventually(async () => {
      const again = await draft.call("c-1", { id: "call" });
      return again.status === 200 && (await answerOf(again)).error?.message === "Task ID already exists: c-1";
    });
    await cancel(draft, "call");
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    await eventually(() => backend.of().cancels.length === 1);
  });
});

describe("case 13: a client of the draft", () => {
  test.each([
    timedOut,
    "McpError: MCP error -32001: Maximum total timeout exceeded",
    "SdkError: Request timed out",
    "SdkError: Maximum total timeout exceeded",
    "request timeout",
  ])("[M-14] whose SDK's own timeout passes: the task goes on, and can still be cancelled (%s)", async (reason) => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1", { id: "call" });
    await cancel(draft, "call", reason);
    await inTime(stream.ended);
    expect(await draft.statusOf("c-1")).toBe("working");
    expect(backend.of().cancels).toEqual([]);
    await cancel(draft, "call");
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
  });

  test("[M-12] that loses its connection, or ends its session: the task goes on", async () => {
    const { draft, url, backend } = await open();
    const lost = await draft.begin("c-1", { id: "lost" });
    await draft.begin("c-2", { id: "ended" });
    lost.close();
    await lost.ended;
    await draft.end();
    const other = await sep1686Rpc(url);
    await cancel(other, "ended");
    await cancel(other, "lost");
    await other.request("ping");
    for (const taskId of ["c-1", "c-2"]) expect(await other.statusOf(taskId)).toBe("working");
    expect(backend.callsOf("cancel")).toEqual([]);
  });
});
