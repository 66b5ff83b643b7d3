import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { callForTask } from "../rpc-client.ts";
import { eventually, inTime, stopAll } from "../serve.ts";
import { answerOf, open, related, type Sep1686Rpc, sep1686Rpc } from "./sep1686-session.ts";

afterEach(stopAll);

const notFound = { code: -32_602, message: "Failed to retrieve task: Task not found" };
const methods = ["tasks/get", "tasks/result", "tasks/delete"] as const;

describe("[M-2] tasks/* are those of the draft", () => {
  test.each(["2025-06-18", "2025-03-26"])("in every session of %s", async (revision) => {
    const { draft, rpc } = await open({ session: { revision } });
    expect(draft.initialized).toMatchObject({ protocolVersion: revision });
    expect(draft.initialized.capabilities).not.toHaveProperty("tasks");
    const taskId = await callForTask(rpc);
    expect((await draft.get(taskId)).result).toMatchObject({ taskId, status: "working", _meta: related(taskId) });
    expect((await draft.request("tasks/cancel", { taskId })).error).toMatchObject({ code: -32_601 });
  });

  test("never, where the server does not serve it", async () => {
    const { draft } = await open({ wires: ["2026-07-28", "2025-11-25", "none"] });
    for (const method of [...methods, "tasks/list"]) {
      const { error } = await draft.request(method, { taskId: "c-1", _meta: related("c-1") });
      expect(error).toMatchObject({ code: -32_601 });
    }
  });

  test("params.task on a revision that knows no tasks asks for nothing", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1", { params: { task: { ttl: 1 } } });
    backend.of().succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ isError: false, _meta: related("c-1") });
  });
});

describe("[M-7] tasks/get", () => {
  test("shows what the caller is to know, and nothing else", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 2_000 } }];
    const { draft, backend } = await open({ tools, fake: { startsAs: "queued" } });
    await draft.begin("c-1", { mark: { keepAlive: 120_000 } });
    const { result, headers } = await draft.get("c-1");
    const shown = { taskId: "c-1", keepAlive: 120_000, _meta: related("c-1") };
    expect(result).toEqual({ ...shown, status: "submitted", pollFrequency: 2_000 });
    expect(headers.get("content-type")).toBe("application/json");
    backend.of().run();
    await backend.events.settled();
    expect((await draft.get("c-1")).result).toMatchObject({ status: "working" });
    backend.of().succeed("done");
    await backend.events.settled();
    expect((await draft.get("c-1")).result).toEqual({ ...shown, status: "completed" });
  });

  test.each([
    [0, 60_000],
    [1e300, 86_400_000],
  ])("a keepAlive of %d is really %d", async (keepAlive, real) => {
    const { draft } = await open();
    await draft.begin("c-1", { mark: { keepAlive } });
    expect((await draft.get("c-1")).result).toMatchObject({ keepAlive: real });
  });
});

describe("[M-8] tasks/result", () => {
  test("of a task that still runs names its status, and does not wait", async () => {
    const { draft } = await open();
    await draft.begin("c-1");
    expect((await draft.request("tasks/result", { taskId: "c-1" })).error).toEqual({
      code: -32_602,
      message: "Cannot retrieve result: Task status is 'working', not 'completed'",
    });
  });

  test("is the same again and again, in any session", async () => {
    const { draft, url, backend } = await open();
    const stream = await draft.begin("c-1");
    backend.of().succeed("done");
    const { result } = await answerOf(stream);
    const other = await sep1686Rpc(url);
    for (const session of [draft, other, other]) {
      expect((await session.request("tasks/result", { taskId: "c-1" })).result).toEqual(result);
    }
  });
});

const listOf = async (session: Sep1686Rpc, cursor?: string): Promise<readonly string[]> => {
  const { result } = await session.request("tasks/list", cursor === undefined ? {} : { cursor });
  return (result.tasks as readonly { readonly taskId: string }[]).map(({ taskId }) => taskId);
};

describe("[M-15] tasks/list", () => {
  test("gives every task that tasks/get gives, as it does, page by page", async () => {
    const { draft, rpc, backend } = await open({ limits: { maxConcurrentTasksPerOwner: 100 } });
    const mine = Array.from({ length: 55 }, (_, index) => `c-${index}`);
    for (const taskId of mine) await draft.begin(taskId);
    const theirs = await callForTask(rpc);
    backend.of().succeed("done");
    await backend.events.settled();
    const first = (await draft.request("tasks/list")).result as {
      tasks: Record<string, unknown>[];
      nextCursor: string;
    };
    expect(first.tasks).toHaveLength(50);
    const rest = await listOf(draft, first.nextCursor);
    const ids = [...first.tasks.map(({ taskId }) => String(taskId)), ...rest];
    expect(ids.toSorted()).toEqual([...mine, theirs].toSorted());
    for (const task of first.tasks.slice(0, 3)) {
      const { _meta, ...shown } = (await draft.get(task.taskId)).result;
      expect(shown).toEqual(task);
    }
  });

  test.each([["nonsense"], [7]])("a cursor like %j is refused", async (cursor) => {
    const { draft } = await open();
    expect((await draft.request("tasks/list", { cursor })).error.code).toBe(-32_602);
  });
});

describe("[M-16] tasks/delete", () => {
  test("takes an ended task and its result away", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1");
    backend.of().succeed("done");
    await answerOf(stream);
    const { result } = await draft.request("tasks/delete", { taskId: "c-1" });
    expect(result).toEqual({ _meta: related("c-1") });
    for (const method of methods) expect((await draft.request(method, { taskId: "c-1" })).error).toEqual(notFound);
    expect(await listOf(draft)).toEqual([]);
  });

  test("stops one that runs, whose call is told that it is gone", async () => {
    const { draft, backend } = await open();
    const stream = await draft.begin("c-1", { id: "call" });
    expect((await draft.request("tasks/delete", { taskId: "c-1" })).result).toEqual({ _meta: related("c-1") });
    expect((await draft.get("c-1")).error).toEqual(notFound);
    await eventually(() => backend.of().cancels.length === 1);
    const { id, error } = await answerOf(stream);
    expect([id, error?.code, error?.message]).toEqual(["call", -32_603, "Task was cancelled"]);
    await inTime(stream.ended);
  });

  test("by another process answers the call of one that runs in the same way", async () => {
    const store = memoryStore();
    const { draft } = await open({ store });
    const stream = await draft.begin("c-1", { id: "call" });
    // What another process has deleted is gone here between two looks.
    const { records } = await store.list({ operator: true }, {}, undefined, 10);
    await store.remove(records[0]?.taskId as never);
    expect((await answerOf(stream)).error).toMatchObject({ code: -32_603, message: "Task was cancelled" });
  });
});
