import { request as httpRequest } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { listen } from "./listen-client.ts";
import { callForTask, extension, type Message, toRequest } from "./rpc-client.ts";
import { eventually, inTime, serve, stopAll } from "./serve.ts";

afterEach(stopAll);

const subscriptionIdKey = "io.modelcontextprotocol/subscriptionId";
const idOf = (message: Message | undefined): unknown => {
  const meta = (message?.params?._meta ?? message?.result?._meta) as Record<string, unknown> | undefined;
  return meta?.[subscriptionIdKey];
};
const statusOf = (message: Message | undefined): unknown => message?.params?.status;
const messageOf = (message: Message | undefined): unknown => message?.params?.statusMessage;

describe("[L-1] [L-2] [L-3] a subscription to tasks", () => {
  test("acknowledges what it honours, gives the state of each, then each change, and ends when all have ended", async () => {
    const { rpc, url, backend } = await serve();
    const [one, two] = [await callForTask(rpc), await callForTask(rpc)];
    const stream = await listen(url, { taskIds: [one, two, "unknown", one] }, { id: "L1" });
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get("content-type")).toContain("text/event-stream");
    expect(stream.response.headers.get("x-accel-buffering")).toBe("no");
    expect(await stream.next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [one, two] }, _meta: { [subscriptionIdKey]: "L1" } },
    });
    const snapshots = [await stream.next(), await stream.next()];
    expect(snapshots.map((message) => [message?.method, message?.params?.taskId, statusOf(message)]).sort()).toEqual(
      [one, two].map((taskId) => ["notifications/tasks", taskId, "working"]).sort(),
    );
    backend.executions[0]?.progress({ done: 1, total: 2 });
    expect(messageOf(await stream.next())).toBe("1 of 2");
    backend.executions[0]?.succeed({ files: 14 });
    const ended = await stream.next();
    const { _meta: _subscription, ...task } = ended?.params ?? {};
    const { _meta: _server, resultType: _type, ...got } = (await rpc("tasks/get", { taskId: one })).result;
    expect(task).toEqual(got);
    backend.executions[1]?.fail("exit code 2");
    expect(await stream.next()).toMatchObject({
      params: { taskId: two, status: "completed", result: { isError: true } },
    });
    expect(await stream.next()).toEqual({
      jsonrpc: "2.0",
      id: "L1",
      result: {
        resultType: "complete",
        _meta: {
          [subscriptionIdKey]: "L1",
          "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.2.3" },
        },
      },
    });
    expect(await stream.next()).toBeUndefined();
  });

  test("marks every frame, and keeps the order of one task's states", async () => {
    const { rpc, url, backend } = await serve();
    const taskId = await callForTask(rpc);
    const stream = await listen(url, { taskIds: [taskId] }, { id: 7 });
    const read = stream.rest();
    for (let done = 1; done <= 50; done++) backend.of().progress({ done, total: 50 });
    backend.of().succeed("done");
    const messages = await read;
    expect(messages.map(idOf).every((id) => id === 7)).toBe(true);
    const counts = messages
      .map((message) => Number(/^(\d+) of/.exec(String(messageOf(message)))?.[1]))
      .filter(Number.isFinite);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(messages.filter((message) => statusOf(message) === "completed")).toHaveLength(1);
    expect(messages.map(({ method }) => method)).not.toContain("notifications/progress");
  });

  test("of ended tasks gives their end at once; of none that it knows it ends at once", async () => {
    const { rpc, url, backend } = await serve();
    const taskId = await callForTask(rpc);
    backend.of().succeed(1);
    await backend.events.settled();
    const ended = await (await listen(url, { taskIds: [taskId] })).rest();
    expect(ended.map(({ method }) => method)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/tasks",
      undefined,
    ]);
    const unknown = await (await listen(url, { taskIds: ["nope"] })).rest();
    expect(unknown).toMatchObject([
      { params: { notifications: { taskIds: [] } } },
      { result: { resultType: "complete" } },
    ]);
    const none = await (await listen(url, { taskIds: [] })).rest();
    expect(none).toMatchObject([
      { params: { notifications: { taskIds: [] } } },
      { result: { resultType: "complete" } },
    ]);
  });

  test("ends a task's part when it is removed", async () => {
    const { rpc, url, server } = await serve();
    const taskId = await callForTask(rpc);
    const stream = await listen(url, { taskIds: [taskId] });
    await stream.next();
    await stream.next();
    await server.engine.deleteTask(taskId, { operator: true });
    const rest = await stream.rest();
    expect(rest.at(-1)).toMatchObject({ result: { resultType: "complete" } });
  });

  test("asks each reader only what it declared", async () => {
    const { rpc, url, backend } = await serve();
    const taskId = await callForTask(rpc);
    const forms = await listen(url, { taskIds: [taskId] }, { capabilities: { elicitation: {} } });
    const bare = await listen(url, { taskIds: [taskId] });
    for (const stream of [forms, bare]) for (let frames = 0; frames < 2; frames++) await stream.next();
    backend.of().ask({ message: "Sure?" });
    expect(await forms.next()).toMatchObject({
      params: { status: "input_required", inputRequests: expect.any(Object) },
    });
    const withheld = await bare.next();
    expect([statusOf(withheld), withheld?.params?.inputRequests]).toEqual(["working", undefined]);
    expect(messageOf(withheld)).toContain("Sure?");
    forms.abort();
    bare.abort();
  });
});

describe("[L-5] a subscription to tasks and more", () => {
  test("carries both, and stays open when the tasks have ended", async () => {
    const { rpc, url, backend, server } = await serve();
    const taskId = await callForTask(rpc);
    const stream = await listen(url, { toolsListChanged: true, taskIds: [taskId] }, { id: "M" });
    expect(await stream.next()).toMatchObject({
      params: { notifications: { toolsListChanged: true, taskIds: [taskId] }, _meta: { [subscriptionIdKey]: "M" } },
    });
    expect(statusOf(await stream.next())).toBe("working");
    server.toolsChanged();
    const changed = await stream.next();
    expect([changed?.method, idOf(changed)]).toEqual(["notifications/tools/list_changed", "M"]);
    backend.of().succeed(1);
    expect(statusOf(await stream.next())).toBe("completed");
    server.toolsChanged();
    expect((await stream.next())?.method).toBe("notifications/tools/list_changed");
    const rest = stream.rest();
    await server.close();
    expect(await rest).toMatchObject([{ id: "M", result: { resultType: "complete" } }]);
  });

  test("without tasks it is left to the SDK", async () => {
    const { url, server } = await serve();
    const stream = await listen(url, { toolsListChanged: true }, { tasks: false });
    expect(await stream.next()).toMatchObject({ params: { notifications: { toolsListChanged: true } } });
    server.toolsChanged();
    expect((await stream.next())?.method).toBe("notifications/tools/list_changed");
    stream.abort();
  });
});

describe("what is refused", () => {
  const refused = async (url: string, notifications: unknown, options: object = {}) => {
    const { rpcClient } = await import("./rpc-client.ts");
    return rpcClient(url)("subscriptions/listen", { notifications }, options);
  };

  test("[L-4] tasks for a request that does not declare the extension: -32021 and 400", async () => {
    const { url } = await serve();
    const { status, error } = await refused(url, { taskIds: ["x"] }, { tasks: false });
    expect([status, error.code, error.data]).toEqual([
      400,
      -32_021,
      { requiredCapabilities: { extensions: { [extension]: {} } } },
    ]);
  });

  test.each([["x"], [[1]], [{}], [null]])("task IDs that are %j: -32602", async (taskIds) => {
    const { url } = await serve();
    expect((await refused(url, { taskIds })).error.code).toBe(-32_602);
  });

  test("headers that differ, no filter, an unknown version: as the SDK refuses them", async () => {
    const { url } = await serve();
    const ids = { taskIds: ["x"] };
    expect((await refused(url, ids, { headers: { "mcp-method": "tools/list" } })).error.code).toBe(-32_020);
    expect((await refused(url, ids, { headers: { "mcp-method": undefined } })).error.code).toBe(-32_020);
    expect((await refused(url, undefined)).error.code).toBe(-32_602);
    const old = {
      meta: { "io.modelcontextprotocol/protocolVersion": "1999-01-01" },
      headers: { "mcp-protocol-version": "1999-01-01" },
    };
    expect((await refused(url, ids, old)).error.code).toBe(-32_022);
  });

  test("[L-9] more tasks in one stream, or more streams of one owner, than are allowed", async () => {
    const { rpc, url } = await serve({ limits: { maxListenTaskIds: 2, maxListenStreamsPerOwner: 1 } });
    expect((await refused(url, { taskIds: ["a", "b", "c"] })).error).toMatchObject({
      code: -32_602,
      data: { limit: 2 },
    });
    const taskId = await callForTask(rpc);
    const first = await listen(url, { taskIds: [taskId] });
    await first.next();
    expect((await refused(url, { taskIds: [taskId] })).error).toMatchObject({ code: 429, data: { limit: 1 } });
    first.abort();
    await eventually(async () => {
      const again = await listen(url, { taskIds: [taskId] });
      const isOpen = again.response.headers.get("content-type") === "text/event-stream";
      again.abort();
      return isOpen;
    });
  });
});

describe("[L-6] [L-7] what a reader costs", () => {
  test("one that goes away leaves nothing behind", async () => {
    const { rpc, url, server } = await serve();
    const taskId = await callForTask(rpc);
    let following = 0;
    const follow = server.engine.followTask;
    (server.engine as { followTask: typeof follow }).followTask = async (...args) => {
      const { stop } = await follow(...args);
      following += 1;
      let isStopped = false;
      return {
        stop: () => {
          if (!isStopped) following -= 1;
          isStopped = true;
          stop();
        },
      };
    };
    const streams = await Promise.all(Array.from({ length: 5 }, () => listen(url, { taskIds: [taskId, "nope"] })));
    for (const stream of streams) await stream.next();
    expect(following).toBe(5);
    for (const stream of streams) stream.abort();
    await eventually(() => following === 0);
  });

  test("a slow one misses states in between, never the last, and nothing piles up", async () => {
    const { rpc, url, backend } = await serve();
    const taskId = await callForTask(rpc);
    const body = JSON.stringify(toRequest("subscriptions/listen", { notifications: { taskIds: [taskId] } }));
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    };
    const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      httpRequest(url, { method: "POST", headers }, resolve).on("error", reject).end(body);
    });
    response.pause();
    const pad = "x".repeat(2_000);
    const states = 3_000;
    for (let done = 1; done <= states; done++) {
      backend.of().progress({ done, total: states, message: pad });
      if (done % 50 === 0) await backend.events.settled();
    }
    backend.of().succeed("last");
    await backend.events.settled();
    let text = "";
    response.setEncoding("utf8");
    const all = new Promise<void>((resolve) => response.on("end", resolve));
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.resume();
    await inTime(all);
    const frames = text.split("\n\n").filter((frame) => frame.includes("notifications/tasks"));
    expect(frames.at(-1)).toContain('"status":"completed"');
    // Buffers of the sockets hold some; a writer that does not wait would have written them all.
    expect(frames.length).toBeLessThan(states * 0.9);
  }, 20_000);

  test("[L-8] a silent one is kept alive", async () => {
    const { rpc, url } = await serve({ keepAliveMs: 20 });
    const taskId = await callForTask(rpc);
    const stream = await listen(url, { taskIds: [taskId] });
    await stream.next();
    await stream.next();
    const silent = stream.next().catch(() => undefined);
    await eventually(() => stream.comments.length >= 3);
    expect(stream.comments[0]).toBe(": keepalive");
    stream.abort();
    await silent;
  });

  test("[L-11] a stop of the server ends each stream, saying so", async () => {
    const { rpc, url, server, backend } = await serve();
    const taskId = await callForTask(rpc);
    const stream = await listen(url, { taskIds: [taskId] }, { id: "S" });
    const rest = stream.rest();
    await eventually(() => backend.starts() === 1);
    await inTime(server.close());
    expect((await rest).at(-1)).toMatchObject({ id: "S", result: { resultType: "complete" } });
    expect(backend.of().cancels).toEqual([]);
  });
});
