import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { callForTask } from "../rpc-client.ts";
import { eventually, stopAll } from "../serve.ts";
import { answerOf, auth, bearer, open, type Sep1686Rpc, sep1686Rpc } from "./sep1686-session.ts";

afterEach(stopAll);

const notFound = { code: -32_602, message: "Failed to retrieve task: Task not found" };
const methods = ["tasks/get", "tasks/result", "tasks/delete"] as const;

const listOf = async (session: Sep1686Rpc, cursor?: string): Promise<readonly string[]> => {
  const { result } = await session.request("tasks/list", cursor === undefined ? {} : { cursor });
  return (result.tasks as readonly { readonly taskId: string }[]).map(({ taskId }) => taskId);
};

describe("[M-5] an ID", () => {
  test("is used once, whoever asks again, and with whatever", async () => {
    const { draft, url, backend } = await open();
    await draft.begin("c-1");
    const other = await sep1686Rpc(url);
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
    const [alice, bob] = await Promise.all([sep1686Rpc(url, bearer("alice")), sep1686Rpc(url, bearer("bob"))]);
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
    const bob = await sep1686Rpc(url, bearer("bob"));
    const stream = await bob.begin(taskId);
    backend.of().succeed("for bob");
    expect((await answerOf(stream)).result).toMatchObject({ content: [{ text: '"for bob"' }] });
    expect((await rpc("tasks/get", { taskId }, bearer("alice"))).result).toMatchObject({ status: "working" });
    const alice = await sep1686Rpc(url, bearer("alice"));
    expect((await answerOf(await alice.call(taskId))).error?.message).toBe(`Task ID already exists: ${taskId}`);
  });
});

describe("[M-11] a task that is not the caller's to see", () => {
  test.each(methods)("is unknown to %s, whatever it is", async (method) => {
    const { url, draft } = await open({ auth, session: bearer("alice") });
    await draft.begin("c-1");
    const bob = await sep1686Rpc(url, bearer("bob"));
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
    await clock.advance(3_600_000);
    expect(await refusal()).toEqual(notFound);
    expect((await answerOf(await draft.call("c-1"))).error?.message).toBe("Task ID already exists: c-1");
  });
});
