import { afterEach, describe, expect, test } from "@jest/globals";
import { asOwnerId } from "@taskbridge/core";
import type { Authenticator } from "../../src/index.ts";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import { callForTask as callForModernTask } from "../rpc-client.ts";
import { inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { callForTask } from "./task-calls.ts";

afterEach(stopAll);

/** A token is its caller's name. */
const auth: Authenticator = {
  authenticate: async ({ authorization = "" }) => {
    const [, subject] = authorization.split(" ");
    return subject === undefined ? { refused: { description: "who?" } } : { identity: { issuer: "test", subject } };
  },
};
const bearer = (name: string) => ({ headers: { authorization: `Bearer ${name}` } });
const setUp = async (options?: ServeOptions) => {
  const served = await serve({ auth, ...options });
  const [alice, bob] = await Promise.all([rpc2025(served.url, bearer("alice")), rpc2025(served.url, bearer("bob"))]);
  return { ...served, alice, bob };
};
interface ShownTask {
  readonly taskId: string;
  readonly status: string;
  readonly createdAt: string;
}
const list = async (session: Rpc2025, cursor?: unknown) => {
  const { result } = await session.request("tasks/list", cursor === undefined ? {} : { cursor });
  const { tasks, nextCursor } = result as { tasks: ShownTask[]; nextCursor?: unknown };
  return { ids: tasks.map(({ taskId }) => taskId), tasks, nextCursor };
};

describe("[B-24] tasks/list", () => {
  const limits = { maxConcurrentTasksPerOwner: 200 };

  test("gives every task of the caller once, newest first, page by page, while more are created", async () => {
    const { alice } = await setUp({ limits });
    const made: string[] = [];
    for (let index = 0; index < 60; index++) made.push(await callForTask(alice));
    const first = await list(alice);
    expect(first.ids).toHaveLength(50);
    expect(first.nextCursor).toEqual(expect.any(String));
    const late = await callForTask(alice);
    const second = await list(alice, first.nextCursor);
    expect(second.nextCursor).toBeUndefined();
    const times = [...first.tasks, ...second.tasks].map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    expect([...first.ids, ...second.ids].sort()).toEqual(made.sort());
    expect((await list(alice)).ids).toContain(late);
    // A cursor can be used again.
    expect((await list(alice, first.nextCursor)).ids).toEqual(second.ids);
  });

  test("shows tasks as tasks/get does, in whatever state and of whichever generation", async () => {
    const { alice, rpc, backend } = await setUp();
    const ids = [await callForTask(alice), await callForTask(alice), await callForTask(alice)];
    ids.push(await callForModernTask(rpc, "job", bearer("alice")));
    backend.executions[0]?.succeed(1);
    backend.executions[1]?.fail("exit code 2");
    backend.executions[2]?.ask();
    await backend.events.settled();
    const { tasks } = await list(alice);
    expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([...ids].sort());
    for (const task of tasks) {
      const { pollInterval: _interval, ...shown } = (await alice.request("tasks/get", { taskId: task.taskId })).result;
      expect(task).toMatchObject(shown);
    }
    expect(tasks.map(({ status }) => status).sort()).toEqual(["completed", "failed", "working", "working"]);
  });

  test("of nobody is empty, without a cursor", async () => {
    const { alice } = await setUp();
    const { result, headers } = await alice.request("tasks/list");
    expect(result).toEqual({ tasks: [] });
    expect(headers.get("content-type")).toBe("application/json");
  });

  test("[B-10] refuses a cursor that is none, or another's", async () => {
    const { alice, bob, server } = await setUp({ limits });
    for (let index = 0; index < 51; index++) await callForTask(alice);
    for (let index = 0; index < 51; index++) await callForTask(bob);
    const { nextCursor } = await list(alice);
    const operator = await server.engine.listTasks({ operator: true }, {}, undefined, 1);
    const other = await server.engine.listTasks({ owner: asOwnerId("test|alice") }, { slotHeld: true }, undefined, 1);
    expect((await list(alice, nextCursor)).ids).toHaveLength(1);
    const damaged = { code: -32_602, message: "the cursor is damaged or belongs to another listing" };
    for (const cursor of [operator.cursor, other.cursor]) {
      expect(cursor).toEqual(expect.any(String));
      expect((await alice.request("tasks/list", { cursor })).error).toEqual(damaged);
    }
    for (const cursor of [nextCursor, "", "x", "%%%", `x${nextCursor}`, "x".repeat(10_000), "null", "[]", "\u0000"]) {
      expect([cursor, (await bob.request("tasks/list", { cursor })).error]).toEqual([cursor, damaged]);
    }
    for (const cursor of [1, ["x"], {}, true]) {
      expect((await alice.request("tasks/list", { cursor })).error).toEqual({
        code: -32_602,
        message: "cursor: text is needed",
        data: { path: "cursor" },
      });
    }
  });
});

describe("[B-25] tasks of somebody else", () => {
  test("are like unknown ones, and stay untouched", async () => {
    const { alice, bob, backend } = await setUp();
    const taskId = await callForTask(alice);
    backend.of().ask();
    await backend.events.settled();
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      const foreign = await bob.request(method, { taskId });
      const unknown = await bob.request(method, { taskId: "a".repeat(taskId.length) });
      expect([foreign.status, foreign.error]).toEqual([unknown.status, unknown.error]);
      expect(foreign.error).toEqual({ code: -32_602, message: "Task not found" });
    }
    expect((await list(bob)).ids).toEqual([]);
    const uri = `taskbridge://tasks/${taskId}/result`;
    expect((await bob.request("resources/read", { uri })).error.code).not.toBe(0);
    expect(backend.of().cancels).toEqual([]);
    backend.of().withdraw();
    backend.of().succeed("secret");
    await backend.events.settled();
    expect(JSON.stringify((await bob.request("tasks/result", { taskId })).messages)).not.toContain("secret");
    expect((await alice.request("tasks/result", { taskId })).result.isError).toBe(false);
  });

  test("take no place of one's own", async () => {
    const { alice, bob } = await setUp({ limits: { maxConcurrentTasksPerOwner: 1 } });
    const mine = await callForTask(alice);
    await callForTask(bob);
    const { error } = await alice.request("tools/call", { name: "job", task: {} });
    expect(error).toMatchObject({ code: 429, data: { openTaskIds: [mine] } });
  });

  test("case 1: one's own are found by any session of the same caller, on any generation", async () => {
    const { alice, rpc, url, backend } = await setUp();
    const taskId = await callForTask(alice);
    expect(await alice.end()).toBe(200);
    const later = await rpc2025(url, bearer("alice"));
    expect((await later.request("tasks/get", { taskId })).result.status).toBe("working");
    expect((await rpc("tasks/get", { taskId }, bearer("alice"))).result.status).toBe("working");
    const wait = later.request("tasks/result", { taskId });
    backend.of().succeed(1);
    expect((await inTime(wait)).result.isError).toBe(false);
  });

  test("case 18: without owners the ID alone grants access, and nothing is listed", async () => {
    const { url } = await serve({ listen: { host: "0.0.0.0", unsafePublic: true } });
    const [one, two] = [await rpc2025(url), await rpc2025(url)];
    const taskId = await callForTask(one);
    expect((await two.request("tasks/get", { taskId })).result.status).toBe("working");
    for (const session of [one, two]) {
      expect((await session.request("tasks/list")).error.code).toBe(-32_601);
    }
  });
});
