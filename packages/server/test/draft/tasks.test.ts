import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { callForTask as callForOlderTask } from "../legacy/task-calls.ts";
import { legacyRpc } from "../legacy-rpc.ts";
import { callForTask } from "../rpc-client.ts";
import { eventually, inTime, stopAll } from "../serve.ts";
import { answerOf, auth, bearer, type DraftRpc, draftRpc, open, related } from "./draft-session.ts";

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
    const other = await draftRpc(url);
    for (const session of [draft, other, other]) {
      expect((await session.request("tasks/result", { taskId: "c-1" })).result).toEqual(result);
    }
  });
});

describe("[M-5] an ID", () => {
  test("is used once, whoever asks again, and with whatever", async () => {
    const { draft, url, backend } = await open();
    await draft.begin("c-1");
    const other = await draftRpc(url);
    for (const session of [draft, other]) {
      const { error } = await answerOf(await session.call("c-1", { args: { other: true } }));
      expect(error).toEqual({ code: -32_602, message: "Task ID already exists: c-1" });
    }
    backend.of().succeed("done");
    await backend.events.settled();
    expect((await answerOf(await draft.call("c-1"))).error?.message).toBe("Task ID already exists: c-1");
    expect(backend.starts()).toBe(1);
  });

  test("[M-16] stays used when its task is deleted: a delayed duplicate starts nothing", async () => {
    const { draft, backend } = await open();
    await draft.begin("c-1");
    await draft.request("tasks/delete", { taskId: "c-1" });
    expect((await answerOf(await draft.call("c-1"))).error?.message).toBe("Task ID already exists: c-1");
    expect(backend.starts()).toBe(1);
  });

  test("is one of its owner's: two may use the same, and neither learns of the other", async () => {
    const { url, backend } = await open({ auth, session: bearer("carol") });
    const [alice, bob] = await Promise.all([draftRpc(url, bearer("alice")), draftRpc(url, bearer("bob"))]);
    const first = await alice.begin("same");
    expect((await bob.get("same")).error).toEqual(notFound);
    const second = await bob.begin("same");
    backend.executions[0]?.succeed("for alice");
    backend.executions[1]?.succeed("for bob");
    expect((await answerOf(first)).result).toMatchObject({ content: [{ text: '"for alice"' }] });
    expect((await answerOf(second)).result).toMatchObject({ content: [{ text: '"for bob"' }] });
    await bob.request("tasks/delete", { taskId: "same" });
    expect(await alice.statusOf("same")).toBe("completed");
    expect(await listOf(bob)).toEqual([]);
    expect(await listOf(alice)).toEqual(["same"]);
  });

  test("may be what the server has given to another owner, who keeps it", async () => {
    const { url, rpc, backend } = await open({ auth, session: bearer("carol") });
    const taskId = await callForTask(rpc, "job", bearer("alice"));
    const bob = await draftRpc(url, bearer("bob"));
    const stream = await bob.begin(taskId);
    backend.of().succeed("for bob");
    expect((await answerOf(stream)).result).toMatchObject({ content: [{ text: '"for bob"' }] });
    expect((await rpc("tasks/get", { taskId }, bearer("alice"))).result).toMatchObject({ status: "working" });
    const alice = await draftRpc(url, bearer("alice"));
    expect((await answerOf(await alice.call(taskId))).error?.message).toBe(`Task ID already exists: ${taskId}`);
  });
});

describe("[M-11] a task that is not the caller's to see", () => {
  test.each(methods)("is unknown to %s, whatever it is", async (method) => {
    const { url, draft } = await open({ auth, session: bearer("alice") });
    await draft.begin("c-1");
    const bob = await draftRpc(url, bearer("bob"));
    for (const taskId of ["c-1", "never", "x".repeat(10_240), "a\u0000b", "../c-1", ""]) {
      expect((await bob.request(method, { taskId })).error).toEqual(notFound);
    }
    expect((await bob.request(method, { taskId: 7 })).error).toMatchObject({ code: -32_602, data: { path: "taskId" } });
  });

  test.each(methods)("has expired to %s while its backend still has it, and is unknown after that", async (method) => {
    const clock = fakeClock();
    const traits = { cancel: "requested" as const };
    const limits = { sessionIdleMs: Number.MAX_SAFE_INTEGER, closeGraceMs: 10 };
    const fake = { clock, traits, onCancel: () => {} };
    const { draft, backend } = await open({ clock, store: memoryStore({ clock }), fake, limits });
    await draft.begin("c-1", { id: "call", mark: { keepAlive: 60_000 } });
    await draft.send({ method: "notifications/cancelled", params: { requestId: "call" } });
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    await clock.advance(60_001);
    const refusal = async () => (await draft.request(method, { taskId: "c-1" })).error;
    expect(await refusal()).toEqual({ ...notFound, message: "Failed to retrieve task: Task has expired" });
    backend.of().stop();
    await backend.events.settled();
    await clock.advance(86_400_000);
    expect(await refusal()).toEqual(notFound);
    expect((await answerOf(await draft.call("c-1"))).error?.message).toBe("Task ID already exists: c-1");
  });
});

const listOf = async (session: DraftRpc, cursor?: string): Promise<readonly string[]> => {
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
    // By whichever of the two it hears of first.
    expect([id, error?.message]).toEqual(["call", expect.stringMatching(/^Task was cancelled$|Task not found$/)]);
    await inTime(stream.ended);
  });
});

describe("one task on every wire", () => {
  test("started here, it is read by the same owner on the others", async () => {
    const { draft, url, rpc, backend } = await open();
    const stream = await draft.begin("c-1");
    const older = await legacyRpc(url);
    expect((await older.request("tasks/get", { taskId: "c-1" })).result).toMatchObject({ status: "working" });
    expect((await rpc("tasks/get", { taskId: "c-1" })).result).toMatchObject({ taskId: "c-1", status: "working" });
    const waiting = older.request("tasks/result", { taskId: "c-1" });
    backend.of().succeed("done");
    const content = [{ type: "text", text: '"done"' }];
    expect((await answerOf(stream)).result).toMatchObject({ content });
    expect((await waiting).result).toMatchObject({ content });
    expect((await rpc("tasks/get", { taskId: "c-1" })).result).toMatchObject({
      status: "completed",
      result: { content },
    });
    expect(backend.starts()).toBe(1);
  });

  test("started on another, it is read here", async () => {
    const { draft, url, backend, rpc } = await open();
    const older = await callForOlderTask(await legacyRpc(url));
    const newer = await callForTask(rpc);
    backend.executions[0]?.succeed("older");
    backend.executions[1]?.succeed("newer");
    await backend.events.settled();
    for (const [taskId, text] of [
      [older, '"older"'],
      [newer, '"newer"'],
    ] as const) {
      const { result } = await draft.request("tasks/result", { taskId });
      expect(result).toMatchObject({ content: [{ text }], _meta: related(taskId) });
    }
  });

  test("cancelled on another, its call is told so", async () => {
    const { draft, url } = await open();
    const stream = await draft.begin("c-1");
    const older = await legacyRpc(url);
    expect((await older.request("tasks/cancel", { taskId: "c-1" })).result).toMatchObject({ status: "cancelled" });
    expect((await answerOf(stream)).error).toMatchObject({ code: -32_603, message: "Task was cancelled" });
    expect(await draft.statusOf("c-1")).toBe("cancelled");
  });
});
