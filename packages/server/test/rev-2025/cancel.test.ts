import { afterEach, describe, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { callForTask } from "./task-calls.ts";

afterEach(stopAll);

/** A backend that takes its time to stop. */
const slow = {
  fake: { traits: { cancel: "requested" as const }, onCancel: () => {} },
  limits: { closeGraceMs: 10 },
};
const setUp = async (options?: ServeOptions) => {
  const served = await serve(options);
  const session = await rpc2025(served.url);
  return { ...served, session, taskId: await callForTask(session) };
};
const status = async ({ session, taskId }: Pick<Awaited<ReturnType<typeof setUp>>, "session" | "taskId">) =>
  (await session.request("tasks/get", { taskId })).result.status;

describe("[B-21] tasks/cancel", () => {
  test("is answered with the cancelled task, while its backend is still stopping, and every wire says the same", async () => {
    const { session, rpc, server, backend, taskId } = await setUp(slow);
    backend.faults.next("cancel", { before: "hang" });
    const { result, headers } = await session.request("tasks/cancel", { taskId });
    expect(headers.get("content-type")).toBe("application/json");
    expect(result).toMatchObject({ taskId, status: "cancelled", ttl: expect.any(Number) });
    expect(result).not.toHaveProperty("_meta");
    expect(result).not.toHaveProperty("task");
    expect(await status({ session, taskId })).toBe("cancelled");
    expect((await rpc("tasks/get", { taskId })).result.status).toBe("cancelled");
    expect((await server.engine.readTask(taskId, { operator: true })).record.state).toBe("cancelled");
    expect(backend.of().snapshot.status).toBe("running");
  });

  test("holds, whatever follows", async () => {
    const { session, rpc, server, backend, taskId } = await setUp(slow);
    await session.request("tasks/cancel", { taskId });
    const before = (await session.request("tasks/get", { taskId })).result;
    await eventually(() => backend.of().cancels.length === 1);
    backend.of().progress({ done: 1 });
    backend.of().ask();
    backend.of().succeed("late");
    await backend.events.settled();
    expect((await session.request("tasks/get", { taskId })).result).toEqual(before);
    expect((await session.request("tasks/result", { taskId })).error).toMatchObject({
      code: -32_603,
      message: "Task was cancelled",
    });
    expect((await session.request("tasks/list")).result.tasks).toMatchObject([{ taskId, status: "cancelled" }]);
    expect((await rpc("tasks/get", { taskId })).result.status).toBe("cancelled");
    const again = await server.engine.readTask(taskId, { operator: true });
    expect([again.record.state, again.output]).toEqual(["cancelled", undefined]);
  });

  test("ends every wait for the result", async () => {
    const { session, taskId } = await setUp(slow);
    const waits = await Promise.all(["a", "b"].map((id) => session.open("tasks/result", { taskId }, { id })));
    await session.request("tasks/cancel", { taskId });
    for (const [index, wait] of waits.entries()) {
      const { error } = await wait.find(({ id }) => id === ["a", "b"][index]);
      expect(error).toMatchObject({ code: -32_603, message: "Task was cancelled" });
      await inTime(wait.ended);
    }
  });

  test("gives the place of the task back only when its backend has really ended", async () => {
    const { session, backend, taskId } = await setUp({
      ...slow,
      limits: { ...slow.limits, maxConcurrentTasksPerOwner: 1 },
    });
    await session.request("tasks/cancel", { taskId });
    expect((await session.request("tasks/get", { taskId })).result.status).toBe("cancelled");
    const refused = await session.request("tools/call", { name: "job", task: {} });
    expect(refused.error).toMatchObject({ code: 429, data: { reason: "limit_exceeded" } });
    expect(backend.starts()).toBe(1);
    await eventually(() => backend.of().cancels.length === 1);
    backend.of().stop();
    await backend.events.settled();
    await callForTask(session);
    expect(backend.starts()).toBe(2);
  });

  test("[B-11] of a task that has ended, in whichever way, is refused with its status", async () => {
    const { session, backend, taskId } = await setUp();
    const failed = await callForTask(session);
    backend.executions[0]?.succeed(1);
    backend.executions[1]?.fail("exit code 2");
    await backend.events.settled();
    const refuse = async (id: string) => (await session.request("tasks/cancel", { taskId: id })).error;
    const ended = "Cannot cancel task: already in terminal status";
    expect(await refuse(taskId)).toEqual({ code: -32_602, message: `${ended} 'completed'` });
    expect(await refuse(failed)).toEqual({ code: -32_602, message: `${ended} 'failed'` });
    const cancelled = await callForTask(session);
    expect((await session.request("tasks/cancel", { taskId: cancelled })).result.status).toBe("cancelled");
    expect(await refuse(cancelled)).toEqual({ code: -32_602, message: `${ended} 'cancelled'` });
    expect(backend.callsOf("cancel").length).toBeLessThanOrEqual(1);
  });

  test("case 11: five at once are one stop, and each is told of the cancelled task", async () => {
    const { session, url, backend, taskId } = await setUp(slow);
    const others = await Promise.all([1, 2, 3, 4].map(() => rpc2025(url)));
    const answers = await Promise.all([session, ...others].map((client) => client.request("tasks/cancel", { taskId })));
    for (const { result, error } of answers) {
      if (result.taskId === taskId) expect(result.status).toBe("cancelled");
      else expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining("'cancelled'") });
    }
    expect(answers.some(({ result }) => result.status === "cancelled")).toBe(true);
    await eventually(() => backend.of().cancels.length === 1);
    await session.request("tasks/cancel", { taskId });
    await backend.events.settled();
    expect(backend.callsOf("cancel")).toHaveLength(1);
  });

  test("holds at once also when another generation has asked for the stop before", async () => {
    const { session, rpc, backend, taskId } = await setUp(slow);
    expect((await rpc("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
    expect(await status({ session, taskId })).toBe("working");
    expect((await session.request("tasks/cancel", { taskId })).result).toMatchObject({ taskId, status: "cancelled" });
    expect((await rpc("tasks/get", { taskId })).result.status).toBe("cancelled");
    await eventually(() => backend.of().cancels.length === 1);
    backend.of().succeed("late");
    await backend.events.settled();
    expect(await status({ session, taskId })).toBe("cancelled");
    expect(backend.callsOf("cancel")).toHaveLength(1);
  });

  test("before the backend has taken the start stops it all the same", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { ackMs: 0 } }];
    const served = await serve({ tools });
    const session = await rpc2025(served.url);
    served.backend.faults.next("start", { delayMs: 50 });
    const taskId = await callForTask(session);
    expect((await session.request("tasks/cancel", { taskId })).result.status).toBe("cancelled");
    await eventually(() => served.backend.starts() === 0 || served.backend.of().snapshot.status === "cancelled");
    await eventually(async () => {
      const { record } = await served.server.engine.readTask(taskId, { operator: true });
      return !record.slotHeld;
    });
    expect(served.backend.executions.filter(({ snapshot }) => snapshot.status === "running")).toEqual([]);
  });

  test("takes back the question that the task had open", async () => {
    const { session, backend, taskId } = await setUp(slow);
    backend.of().ask();
    await backend.events.settled();
    await session.request("tasks/cancel", { taskId });
    const { result } = await session.request("tasks/get", { taskId });
    expect(result.status).toBe("cancelled");
    expect(backend.of().answers).toEqual([]);
  });
});

describe("a call that is taken back before its answer", () => {
  test("case 13: leaves no task running", async () => {
    const { session, backend, server, taskId } = await setUp();
    backend.faults.next("start", { answerDelayMs: 1_000 });
    const call = await session.open("tools/call", { name: "job", task: {} }, { id: "c1" });
    await eventually(() => backend.starts() === 2);
    await session.send({ method: "notifications/cancelled", params: { requestId: "c1", reason: "never mind" } });
    await inTime(call.ended);
    expect(call.messages).toEqual([]);
    await eventually(() => backend.of().snapshot.status === "cancelled");
    expect(await status({ session, taskId })).toBe("working");
    const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 10);
    expect(tasks.filter(({ record }) => record.state !== "cancelled").map(({ record }) => record.taskId)).toEqual([
      taskId,
    ]);
  });

  test("case 13: whose connection is lost goes on, and is found in the list", async () => {
    const { session, backend } = await setUp();
    backend.faults.next("start", { answerDelayMs: 100 });
    const call = await session.open("tools/call", { name: "job", task: {} });
    call.close();
    await eventually(() => backend.starts() === 2);
    await eventually(async () => {
      const { tasks } = (await session.request("tasks/list")).result as { tasks: { status: string }[] };
      return tasks.length === 2 && tasks.every((task) => task.status === "working");
    });
    expect(backend.callsOf("cancel")).toEqual([]);
  });
});
