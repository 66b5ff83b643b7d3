import { afterEach, describe, expect, test } from "@jest/globals";
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { type Message, type RequestOptions, toRequest } from "./rpc-client.ts";
import { eventually, inTime, start, stopAll } from "./serve.ts";

afterEach(stopAll);

/** The client's end of a connection, message by message. */
const connect = async (options: Parameters<typeof start>[0] = {}) => {
  const { server, backend } = await start(options);
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  const received: Message[] = [];
  mine.onmessage = (message) => void received.push(message as unknown as Message);
  await mine.start();
  const ended = server.serveStdio({ transport: theirs });
  const send = (message: object): Promise<void> => mine.send(message as JSONRPCMessage);
  const take = async (isWanted: (message: Message) => boolean): Promise<Message> => {
    await eventually(() => received.some(isWanted));
    const [message] = received.splice(received.findIndex(isWanted), 1);
    if (message === undefined) throw new Error("gone");
    return message;
  };
  const rpc = async (method: string, params: Record<string, unknown> = {}, request: RequestOptions = {}) => {
    const message = toRequest(method, params, request);
    await send(message);
    return take(({ id, method: isRequest }) => id === message.id && isRequest === undefined);
  };
  const listen = (id: string | number, notifications: object, request: RequestOptions = {}) =>
    send(toRequest("subscriptions/listen", { notifications }, { ...request, id }));
  const task = async (): Promise<string> => String((await rpc("tools/call", { name: "job" })).result?.taskId);
  return { server, backend, mine, received, ended, send, take, rpc, listen, task };
};

const subscriptionOf = (message: Message): unknown =>
  (message.params?._meta as Record<string, unknown> | undefined)?.["io.modelcontextprotocol/subscriptionId"];
const isAck = (id: unknown) => (message: Message) =>
  message.method === "notifications/subscriptions/acknowledged" && subscriptionOf(message) === id;
const isTask = (id: unknown, status: string) => (message: Message) =>
  message.method === "notifications/tasks" && subscriptionOf(message) === id && message.params?.status === status;
const isAnswer = (id: unknown) => (message: Message) => message.id === id && message.method === undefined;

describe("[L-10] subscriptions over stdio", () => {
  test("several at once, each with its own tasks and its own end", async () => {
    const { listen, take, task, backend, received } = await connect();
    const [one, two] = [await task(), await task()];
    await listen("A", { taskIds: [one] });
    await listen(5, { taskIds: [one, two, "nope"] });
    expect((await take(isAck("A"))).params).toMatchObject({ notifications: { taskIds: [one] } });
    expect((await take(isAck(5))).params).toMatchObject({ notifications: { taskIds: [one, two] } });
    await take(isTask("A", "working"));
    backend.executions[0]?.succeed(1);
    await take(isTask("A", "completed"));
    expect(await take(isAnswer("A"))).toMatchObject({ result: { resultType: "complete" } });
    await take(isTask(5, "completed"));
    expect(received.some(isAnswer(5))).toBe(false);
    backend.executions[1]?.succeed(1);
    expect(await take(isAnswer(5))).toMatchObject({ result: { resultType: "complete" } });
  });

  test("tasks and more on one stream, until the connection is closed", async () => {
    const { listen, take, task, server, backend, ended } = await connect();
    const taskId = await task();
    await listen("M", { toolsListChanged: true, taskIds: [taskId] });
    expect((await take(isAck("M"))).params).toMatchObject({
      notifications: { toolsListChanged: true, taskIds: [taskId] },
    });
    await take(isTask("M", "working"));
    backend.of().succeed(1);
    await take(isTask("M", "completed"));
    const closed = server.close();
    expect(await take(isAnswer("M"))).toMatchObject({ result: { resultType: "complete" } });
    await inTime(closed);
    await inTime(ended);
  });

  test("a cancelled one is over, and its ID can be used again", async () => {
    const { listen, take, task, send, backend, received } = await connect();
    const taskId = await task();
    await listen("C", { taskIds: [taskId] });
    await take(isTask("C", "working"));
    await send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "C" } });
    await listen("D", { taskIds: [taskId] });
    await take(isTask("D", "working"));
    backend.of().progress({ done: 1 });
    await take(isTask("D", "working"));
    expect(received.some((message) => subscriptionOf(message) === "C" && !isAck("C")(message))).toBe(false);
    await listen("C", { taskIds: [taskId] });
    await take(isTask("C", "working"));
  });

  test("refuses what HTTP refuses", async () => {
    const { listen, take, task, rpc } = await connect({ limits: { maxListenTaskIds: 1 } });
    const taskId = await task();
    const undeclared = await rpc("subscriptions/listen", { notifications: { taskIds: [taskId] } }, { tasks: false });
    expect(undeclared.error).toMatchObject({ code: -32_021, data: { requiredCapabilities: { extensions: {} } } });
    for (const taskIds of ["x", [1], [taskId, "another"]]) {
      expect((await rpc("subscriptions/listen", { notifications: { taskIds } })).error?.code).toBe(-32_602);
    }
    await listen("X", { taskIds: [taskId] });
    await take(isAck("X"));
    await listen("X", { taskIds: [taskId] });
    expect((await take(isAnswer("X"))).error?.code).toBe(-32_600);
    const old = { meta: { "io.modelcontextprotocol/protocolVersion": "1999-01-01" } };
    expect((await rpc("subscriptions/listen", { notifications: { taskIds: [taskId] } }, old)).error?.code).toBe(
      -32_022,
    );
  });
});

describe("calls over stdio", () => {
  test("case 13: a cancelled call is stopped, and a task that was handed out is not", async () => {
    const { send, backend, task, rpc, server } = await connect({ waitMs: 20_000 });
    const taskId = await task();
    await send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "late" } });
    await send(toRequest("tools/call", { name: "job" }, { id: "call", tasks: false }));
    await eventually(() => backend.starts() === 2);
    await send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "call", reason: "no longer needed" },
    });
    await eventually(() => backend.executions[1]?.cancels.length === 1);
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    expect((await server.engine.readTask(taskId, { operator: true })).record.cancel).toBeUndefined();
  });

  test("case 13: a client that goes away stops nothing, and the server hears of it", async () => {
    const { send, backend, mine, ended, server } = await connect({ waitMs: 20_000 });
    await send(toRequest("tools/call", { name: "job" }, { tasks: false }));
    await eventually(() => backend.starts() === 1);
    await mine.close();
    await inTime(ended);
    const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 1);
    expect(tasks[0]?.record.cancel).toBeUndefined();
  });

  test("[H-6] a stop answers calls that wait", async () => {
    const { send, backend, take, server, ended } = await connect({ waitMs: 40_000 });
    await send(toRequest("tools/call", { name: "job" }, { id: "call", tasks: false }));
    await eventually(() => backend.starts() === 1);
    const closed = server.close();
    expect(await take(isAnswer("call"))).toMatchObject({ result: { structuredContent: { taskStatus: "working" } } });
    await inTime(closed);
    await inTime(ended);
    expect(backend.of().cancels).toEqual([]);
  });
});
