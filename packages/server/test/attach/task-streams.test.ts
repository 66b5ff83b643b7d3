import { afterEach, describe, expect, test } from "@jest/globals";
import { createMcpHandler, type McpServer, type Transport } from "@modelcontextprotocol/server";
import { attachTasks, type TaskServer, withTaskStreams } from "../../src/index.ts";
import type { Message } from "../rpc-client.ts";
import { toRequest } from "../rpc-client.ts";
import { eventually, inTime, type ServeOptions, start, stopAll } from "../serve.ts";
import { callByFetch, type Fetch, openPipe, postTo } from "./connect-v2.ts";
import { createHostV2 } from "./host-v2.ts";

afterEach(stopAll);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const host = (tasks: TaskServer): McpServer => {
  const created = createHostV2();
  attachTasks(created, tasks, { owners: "local" });
  return created;
};

const acknowledged = "notifications/subscriptions/acknowledged";

/** One subscription over HTTP, message by message. */
const listen = async (fetch: Fetch, notifications: object, options: object = {}) => {
  const leaving = new AbortController();
  const response = await postTo(
    fetch,
    "subscriptions/listen",
    { notifications },
    { ...options, signal: leaving.signal },
  );
  const received: Message[] = [];
  const read = async (): Promise<void> => {
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk as Uint8Array);
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const data = frame.split("\n").find((line) => line.startsWith("data: "));
        if (data !== undefined) received.push(JSON.parse(data.slice(6)) as Message);
      }
    }
  };
  const ended =
    response.ok && response.headers.get("content-type")?.startsWith("text/event-stream") ? read() : undefined;
  const take = async (method: string): Promise<Message | undefined> => {
    await eventually(() => received.some((message) => message.method === method));
    return received.splice(
      received.findIndex((message) => message.method === method),
      1,
    )[0];
  };
  return { response, received, take, ended: () => inTime(ended ?? Promise.resolve()), leave: () => leaving.abort() };
};

const setUp = async (options: ServeOptions = {}) => {
  const started = await start(options);
  const handler = createMcpHandler(() => host(started.server));
  closing.push(() => handler.close());
  const streams = withTaskStreams(handler, started.server, { owners: "local" });
  const send = callByFetch(handler.fetch);
  const task = async (): Promise<string> => String((await send("tools/call", { name: "job" }))[0]?.result?.taskId);
  return { ...started, handler, streams, task };
};

const pipeTo = async (tasks: TaskServer, wrap?: (transport: Transport) => Transport) => {
  const pipe = await openPipe(() => host(tasks), wrap);
  closing.push(pipe.close);
  const subscribe = (id: string, notifications: object): Promise<void> =>
    pipe.send(toRequest("subscriptions/listen", { notifications }, { id }));
  const found = async (isIt: (message: Message) => boolean): Promise<Message | undefined> => {
    await eventually(() => pipe.received.some(isIt));
    return pipe.received.find(isIt);
  };
  return { ...pipe, subscribe, found };
};

describe("subscriptions to tasks through an SDK v2 handler", () => {
  test("bring every state until the end, beside the host's own news", async () => {
    const { streams, backend, task } = await setUp();
    const taskId = await task();
    const { take, ended, received } = await listen(streams.fetch, { taskIds: [taskId, "nope"] });
    expect((await take(acknowledged))?.params).toMatchObject({ notifications: { taskIds: [taskId] } });
    expect((await take("notifications/tasks"))?.params).toMatchObject({ taskId, status: "working" });
    backend.of().succeed(1);
    expect((await take("notifications/tasks"))?.params).toMatchObject({ taskId, status: "completed" });
    await ended();
    expect(received.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });

    const mixed = await listen(streams.fetch, { toolsListChanged: true, taskIds: [await task()] });
    expect((await mixed.take(acknowledged))?.params).toMatchObject({
      notifications: { toolsListChanged: true, taskIds: [expect.any(String)] },
    });
    streams.notify.toolsChanged();
    await mixed.take("notifications/tools/list_changed");
    mixed.leave();
  });

  test("are those of the caller alone", async () => {
    const { server, handler } = await setUp();
    const streams = withTaskStreams(handler, server);
    const as = (sub: string) => ({ authInfo: { token: "t", clientId: "app", scopes: [], extra: { sub } } });
    const made = await callByFetch(handler.fetch, as("ada").authInfo)("tools/call", { name: "job" });
    const taskId = made[0]?.result?.taskId;
    const mine = await listen(streams.fetch, { taskIds: [taskId] }, as("ada"));
    expect((await mine.take(acknowledged))?.params).toMatchObject({ notifications: { taskIds: [taskId] } });
    mine.leave();
    const other = await listen(streams.fetch, { taskIds: [taskId] }, as("bob"));
    expect((await other.take(acknowledged))?.params).toMatchObject({ notifications: { taskIds: [] } });
    await other.ended();
  });

  test("are what the SDK makes of them where the handler is not wrapped", async () => {
    const { handler, task } = await setUp();
    const alone = createMcpHandler(() => createHostV2());
    closing.push(() => alone.close());
    const notifications = { toolsListChanged: true, taskIds: [await task()] };
    const firstOf = async ({ fetch }: { fetch: Fetch }): Promise<unknown> => {
      const { take, leave, response } = await listen(fetch, notifications);
      const first = await take(acknowledged);
      leave();
      return [response.status, first];
    };
    const expected = await firstOf(alone);
    expect(await firstOf(handler)).toEqual(expected);
    expect(JSON.stringify(expected)).not.toContain("taskIds");
  });

  test("end, saying so, when the task server is stopped; the host goes on", async () => {
    const { server, streams, task } = await setUp();
    const { take, ended, received } = await listen(streams.fetch, { taskIds: [await task()] });
    await take("notifications/tasks");
    await server.close();
    await ended();
    expect(received.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
    const add = await callByFetch(streams.fetch)("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(add[0]?.result).toMatchObject({ content: [{ text: "3" }] });
  });
});

describe("subscriptions to tasks over a pipe that an SDK v2 host serves", () => {
  test("bring every state until the end", async () => {
    const { server, backend, task } = await setUp();
    const { subscribe, found } = await pipeTo(server, (transport) => withTaskStreams(transport, server));
    const taskId = await task();
    await subscribe("s", { taskIds: [taskId] });
    expect((await found(({ method }) => method === acknowledged))?.params).toMatchObject({
      notifications: { taskIds: [taskId] },
    });
    backend.of().succeed(1);
    await found(({ params }) => params?.taskId === taskId && params.status === "completed");
    expect(await found(({ id }) => id === "s")).toMatchObject({ result: { resultType: "complete" } });
  });

  test("are what the SDK makes of them where the transport is not wrapped", async () => {
    const { server, task } = await setUp();
    const taskId = await task();
    const attached = await pipeTo(server);
    const alone = await openPipe(() => createHostV2());
    closing.push(alone.close);
    await attached.subscribe("s", { toolsListChanged: true, taskIds: [taskId] });
    await alone.send(
      toRequest("subscriptions/listen", { notifications: { toolsListChanged: true, taskIds: [taskId] } }, { id: "s" }),
    );
    await eventually(() => attached.received.length > 0 && alone.received.length > 0);
    expect(attached.received).toEqual(alone.received);
  });

  test("end, saying so, when the task server is stopped; the host and its own news go on", async () => {
    const { server, task } = await setUp();
    const { subscribe, found, call, received } = await pipeTo(server, (transport) =>
      withTaskStreams(transport, server),
    );
    const taskIds = [await task()];
    await subscribe("tasks", { taskIds });
    await subscribe("mixed", { toolsListChanged: true, taskIds });
    await eventually(() => received.filter(({ method }) => method === "notifications/tasks").length === 2);
    await server.close();
    expect(await found(({ id }) => id === "tasks")).toMatchObject({ result: { resultType: "complete" } });
    const [add] = await call("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(add?.result).toMatchObject({ content: [{ text: "3" }] });
    expect(received.some(({ id }) => id === "mixed")).toBe(false);
  });
});

test.each([undefined, null, 1, {}, { fetch: true }])("%p cannot carry task streams", async (target) => {
  const { server } = await start();
  expect(() => withTaskStreams(target as never, server)).toThrow(
    expect.objectContaining({
      code: "misconfigured",
      message: expect.stringContaining("createMcpHandler() or a transport"),
    }),
  );
  const handler = createMcpHandler(() => createHostV2());
  expect(() => withTaskStreams(handler, {} as never)).toThrow(
    expect.objectContaining({ code: "misconfigured", message: expect.stringContaining("createTaskServer()") }),
  );
});
