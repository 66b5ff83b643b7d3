import { afterEach, describe, expect, test } from "@jest/globals";
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { memoryStore } from "@taskbridge/core/memory";
import { type Message, toRequest } from "../rpc-client.ts";
import { eventually, inTime, type ServeOptions, start, stopAll } from "../serve.ts";
import { relatedTo } from "./task-calls.ts";

afterEach(stopAll);

/** The client's end of a connection that has begun with `initialize`. */
const connect = async ({ revision = "2025-11-25", ...options }: ServeOptions & { readonly revision?: string } = {}) => {
  const { server, backend } = await start(options);
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  const received: Message[] = [];
  mine.onmessage = (message) => void received.push(message as unknown as Message);
  await mine.start();
  const ended = server.serveStdio({ transport: theirs });
  const send = (message: object): Promise<void> => mine.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const isAnswer = (id: unknown) => (message: Message) => message.id === id && message.method === undefined;
  const answerTo = async (id: unknown): Promise<Message> => {
    await eventually(() => received.some(isAnswer(id)));
    return received.find(isAnswer(id)) as Message;
  };
  let requests = 0;
  const rpc = async (method: string, params: Record<string, unknown> = {}): Promise<Message> => {
    const id = `r${++requests}`;
    await send({ id, method, params });
    return answerTo(id);
  };
  const clientInfo = { name: "test", version: "1" };
  const initialized = await rpc("initialize", { protocolVersion: revision, capabilities: {}, clientInfo });
  await send({ method: "notifications/initialized" });
  const task = async (params: object = {}): Promise<string> => {
    const { result } = await rpc("tools/call", { name: "job", arguments: {}, task: {}, ...params });
    return String((result?.task as { taskId?: unknown } | undefined)?.taskId);
  };
  const isAnswered = (id: unknown): boolean => received.some(isAnswer(id));
  return { server, backend, mine, received, ended, send, rpc, answerTo, isAnswered, task, initialized };
};

describe("tasks of 2025-11-25 on stdio", () => {
  test("[B-1] are declared, and tools say whether they can be tasks", async () => {
    const { initialized, rpc } = await connect();
    expect(initialized.result).toMatchObject({
      protocolVersion: "2025-11-25",
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    });
    const { tools } = (await rpc("tools/list")).result as { tools: object[] };
    expect(tools[0]).toMatchObject({ name: "job", execution: { taskSupport: "optional" } });
  });

  test("are created, read, listed, and waited for", async () => {
    const { task, rpc, send, answerTo, isAnswered, backend } = await connect();
    const taskId = await task({ task: { ttl: 90_000 } });
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working", ttl: null });
    expect((await rpc("tasks/list")).result).toMatchObject({ tasks: [{ taskId, status: "working" }] });
    await send({ id: "w", method: "tasks/result", params: { taskId } });
    await rpc("ping");
    expect(isAnswered("w")).toBe(false);
    backend.of().succeed({ files: 14 });
    const result = {
      content: [{ type: "text", text: '{"files":14}' }],
      isError: false,
      _meta: relatedTo(taskId),
    };
    expect((await answerTo("w")).result).toEqual(result);
    expect((await rpc("tasks/result", { taskId })).result).toEqual(result);
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ status: "completed", ttl: expect.any(Number) });
  });

  test("[B-21] are cancelled, and stay so", async () => {
    const slow = { fake: { traits: { cancel: "requested" as const }, onCancel: () => {} } };
    const { task, rpc, send, answerTo, backend } = await connect(slow);
    const taskId = await task();
    await send({ id: "w", method: "tasks/result", params: { taskId } });
    expect((await rpc("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
    expect((await answerTo("w")).error).toMatchObject({ code: -32_603, message: "Task was cancelled" });
    await eventually(() => backend.of().cancels.length === 1);
    backend.of().succeed("late");
    await backend.events.settled();
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ status: "cancelled" });
    expect((await rpc("tasks/cancel", { taskId })).error).toMatchObject({
      code: -32_602,
      message: "Cannot cancel task: already in terminal status 'cancelled'",
    });
  });

  test("[B-20] outlast a wait that is taken back", async () => {
    const { task, rpc, send, isAnswered, backend } = await connect();
    const taskId = await task();
    await send({ id: "w", method: "tasks/result", params: { taskId } });
    await send({ method: "notifications/cancelled", params: { requestId: "w", reason: "no time" } });
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    backend.of().succeed(1);
    expect((await rpc("tasks/result", { taskId })).result).toMatchObject({ isError: false });
    expect(isAnswered("w")).toBe(false);
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("case 1: outlast the connection, and a server that stops leaves waits unanswered", async () => {
    const kept = memoryStore();
    const store = { ...kept, close: async () => {} };
    const first = await connect({ store });
    const taskId = await first.task();
    await first.send({ id: "w", method: "tasks/result", params: { taskId } });
    await first.rpc("ping");
    await inTime(first.server.close());
    await inTime(first.ended);
    expect(first.isAnswered("w")).toBe(false);
    expect(first.backend.callsOf("cancel")).toEqual([]);
    const second = await connect({ store, adapters: { fake: first.backend.connect() } });
    expect((await second.rpc("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    first.backend.of().succeed(1);
    expect((await second.rpc("tasks/result", { taskId })).result).toMatchObject({ isError: false });
    await second.mine.close();
    await inTime(second.ended);
  });

  test("[B-3] are not made of bad input", async () => {
    const { rpc, backend } = await connect();
    for (const task of [null, "yes", [], { ttl: -1 }, { ttl: "60000" }]) {
      const { error } = await rpc("tools/call", { name: "job", arguments: {}, task });
      expect([task, error?.code, error?.message]).toEqual([task, -32_602, expect.stringMatching(/^task/)]);
    }
    expect((await rpc("tasks/get", {})).error).toMatchObject({ code: -32_602, data: { path: "taskId" } });
    expect((await rpc("tasks/list", { cursor: "x" })).error).toMatchObject({ code: -32_602 });
    expect((await rpc("tasks/update", { taskId: "x" })).error).toMatchObject({ code: -32_601 });
    expect(backend.starts()).toBe(0);
  });

  test("[B-22] do not exist on a connection of an earlier revision", async () => {
    const { initialized, rpc } = await connect({ revision: "2025-06-18" });
    expect(initialized.result?.protocolVersion).toBe("2025-06-18");
    expect(JSON.stringify((await rpc("tools/list")).result)).not.toContain("execution");
    const { result } = await rpc("tools/call", { name: "job", arguments: {}, task: {} });
    expect(result).not.toHaveProperty("task");
    expect(result).toMatchObject({ structuredContent: { taskId: expect.any(String) } });
    expect((await rpc("tasks/list")).error).toMatchObject({ code: -32_601 });
  });
});

test("a connection stays with the generation that it began with", async () => {
  const { send, answerTo, task, rpc } = await connect();
  const taskId = await task();
  const modern = toRequest("tasks/get", { taskId }, { id: "modern" });
  await send(modern);
  const answer = await answerTo("modern");
  expect(answer.result ?? {}).not.toHaveProperty("resultType");
  expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working", ttl: null });
});
