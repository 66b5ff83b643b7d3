import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { accept, initialize } from "./rev-2025/session-calls.ts";
import { rpc2025 } from "./rpc-2025.ts";
import { callForTask, post, rpcClient } from "./rpc-client.ts";
import { eventually, inTime, serve, stopAll } from "./serve.ts";

afterEach(stopAll);

const noTasks = { tasks: false };

/** A call whose connection is closed once the backend has it. */
const callAndLeave = async (
  url: string,
  arrived: () => boolean,
  options: Parameters<typeof post>[3] = {},
): Promise<void> => {
  const leaving = new AbortController();
  const call = post(url, "tools/call", { name: "job" }, { ...options, signal: leaving.signal }).then(
    (response) => response.text(),
    () => "left",
  );
  await eventually(arrived);
  leaving.abort();
  await call;
};

describe("case 13: a client that goes away before the answer", () => {
  test("[A-17] stops what it called, while it waits for a task", async () => {
    const { url, backend } = await serve();
    backend.faults.next("start", { answerDelayMs: 500 });
    await callAndLeave(url, () => backend.starts() === 1);
    await eventually(() => backend.of().cancels.length === 1);
  });

  test("[A-17] stops what it called, while it waits for a result", async () => {
    const { url, backend, server } = await serve({ waitMs: 20_000 });
    await callAndLeave(url, () => backend.starts() === 1, noTasks);
    await eventually(() => backend.of().cancels.length === 1);
    await eventually(async () => {
      const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 10);
      return tasks[0]?.record.state === "cancelled";
    });
  });

  test("does not stop a task that repeated calls share", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { dedupeWindowMs: 60_000 } }];
    const { url, rpc, backend, server } = await serve({ tools, waitMs: 20_000 });
    await callAndLeave(url, () => backend.starts() === 1, noTasks);
    const taskId = await callForTask(rpc);
    expect(backend.starts()).toBe(1);
    expect((await server.engine.readTask(taskId, { operator: true })).record.cancel).toBeUndefined();
  });

  test("on an earlier revision stops nothing: a lost connection is no cancellation there", async () => {
    const { url, backend, server } = await serve({ waitMs: 20_000 });
    const session = await rpc2025(url);
    const call = await session.open("tools/call", { name: "job" });
    await eventually(() => backend.starts() === 1);
    call.close();
    await call.ended;
    await eventually(async () => {
      const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 10);
      return tasks[0]?.record.ref !== undefined;
    });
    const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 10);
    expect(tasks[0]?.record.cancel).toBeUndefined();
  });
});

describe("case 13: [A-18] a client that has its handle", () => {
  test("can go away, close connections and come again: the task goes on", async () => {
    const { url, backend } = await serve();
    const taskIds = [];
    for (let times = 0; times < 5; times++)
      taskIds.push(await callForTask(rpcClient(url), "job", { headers: { connection: "close" } }));
    const polling = new AbortController();
    const polls = taskIds.map((taskId) =>
      post(url, "tasks/get", { taskId }, { signal: polling.signal }).then(
        (response) => response.text(),
        () => "left",
      ),
    );
    polling.abort();
    await Promise.all(polls);
    for (const taskId of taskIds) {
      expect((await rpcClient(url)("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    }
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("also one that knows no tasks", async () => {
    const { rpc, backend, server } = await serve({ waitMs: 20 });
    const { structuredContent } = (await rpc("tools/call", { name: "job" }, noTasks)).result;
    const { taskId } = structuredContent as { taskId: string };
    await rpc("tools/list");
    expect((await server.engine.readTask(taskId, { operator: true })).record.cancel).toBeUndefined();
    expect(backend.callsOf("cancel")).toEqual([]);
  });
});

describe("[H-6] a stop of the server", () => {
  test("gives waiting calls a handle, and cancels nothing", async () => {
    const { rpc, backend, server } = await serve({ waitMs: 40_000 });
    const call = rpc("tools/call", { name: "job" }, noTasks);
    await eventually(() => backend.starts() === 1);
    const stopped = server.close();
    expect((await inTime(call)).result).toMatchObject({ structuredContent: { taskStatus: "working" }, isError: false });
    await inTime(stopped);
    expect(backend.of().cancels).toEqual([]);
  });

  test("lets a call that is being started end with its task", async () => {
    const { rpc, backend, server } = await serve();
    backend.faults.next("start", { answerDelayMs: 300 });
    const call = rpc("tools/call", { name: "job" });
    await eventually(() => backend.starts() === 1);
    const stopped = server.close();
    expect((await inTime(call)).result).toMatchObject({ resultType: "task" });
    await inTime(stopped);
    expect(backend.of().cancels).toEqual([]);
  });

  test("tells a tool that is never a task that its result cannot be given", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { support: "forbidden" as const } }];
    const { rpc, backend, server } = await serve({ tools });
    const call = rpc("tools/call", { name: "job" });
    await eventually(() => backend.starts() === 1);
    const stopped = server.close();
    expect((await inTime(call)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("stopped") }],
    });
    await inTime(stopped);
    expect(backend.of().cancels).toEqual([]);
  });

  test("does not take for a disconnect what it closes itself, when a start is too slow to be answered", async () => {
    const store = { ...memoryStore(), close: async () => {} };
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { ackMs: 30_000 } }];
    const clock = fakeClock();
    const { rpc, backend, server } = await serve({ tools, store, fake: { clock } });
    backend.faults.next("start", { answerDelayMs: 30_000 });
    const call = rpc("tools/call", { name: "job" }).catch(() => "closed");
    await eventually(() => backend.starts() === 1);
    const stopped = server.close();
    await inTime(call);
    await clock.advance(30_000);
    await inTime(stopped);
    const { records } = await store.list({ operator: true }, {}, undefined, 10);
    expect(records.map(({ cancel, state }) => [cancel, state])).toEqual([[undefined, "running"]]);
    expect(backend.of().cancels).toEqual([]);
  });

  test("takes no more requests, and can be asked for twice", async () => {
    const { url, server } = await serve();
    await inTime(Promise.all([server.close(), server.close()]));
    await expect(fetch(url)).rejects.toThrow();
  });

  test("stays closed, whatever comes, and leaves nothing behind that would wake it", async () => {
    const clock = fakeClock();
    const { server } = await serve({ clock, store: memoryStore({ clock }), fake: { clock } });
    const closing = server.close();
    const body = JSON.stringify(initialize);
    const headers = { "content-type": "application/json", accept };
    const ask = () => server.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
    for (const wait of [undefined, closing]) {
      await wait;
      const refused = await ask();
      expect([refused.status, refused.headers.get("mcp-session-id")]).toEqual([503, null]);
      await expect(server.listen({ port: 0 })).rejects.toMatchObject({ code: "unavailable" });
      await expect(server.serveStdio()).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(clock.scheduled).toBe(0);
  });

  test("closes the adapters and the store, also when one of them fails to", async () => {
    const { server, backend } = await serve();
    const closed: string[] = [];
    const adapter = backend.connect();
    const failing = { ...adapter, close: () => Promise.reject(new Error("no")) };
    const store = memoryStore();
    const another = await serve({
      adapters: { bad: failing, fake: { ...adapter, close: async () => void closed.push("fake") } },
      store: { ...store, close: async () => void closed.push("store") },
    });
    await inTime(another.server.close());
    expect(closed).toEqual(["fake", "store"]);
    await server.close();
  });
});

test("[H-6] a listener that is closed alone hands out what waits, and cancels nothing", async () => {
  const { server, backend } = await serve({ waitMs: 40_000 });
  const second = await server.listen({ port: 0 });
  const call = rpcClient(second.url)("tools/call", { name: "job" }, noTasks);
  await eventually(() => backend.starts() === 1);
  const closed = second.close();
  expect((await inTime(call)).result).toMatchObject({ structuredContent: { taskStatus: "working" } });
  await inTime(closed);
  expect(backend.of().cancels).toEqual([]);
});
