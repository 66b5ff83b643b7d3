import { afterEach, describe, expect, test } from "@jest/globals";
import { type Clock, systemClock } from "../src/clock.ts";
import { createTaskClient } from "../src/create-task-client.ts";
import { deferred } from "../src/deferred.ts";
import { isTaskClientError, type Task, taskClient, type WireName } from "../src/index.ts";
import { connections, endAll, eventually, jsonOf, serve } from "./serve.ts";

afterEach(endAll);

const wires: readonly WireName[] = ["2026-07-28", "2025-11-25", "sep-1686", "none"];

const ways = connections.flatMap(({ name, modern, open }) =>
  wires
    .filter((wire) => wire === "none" || (wire === "2026-07-28") === modern)
    .map((wire) => [`${wire} on ${name}`, wire, open] as const),
);

describe.each(ways)("%s", (_name, wire, open) => {
  const begin = async () => {
    const served = await serve({ wires });
    const client = await open(served);
    return { ...served, client, calls: taskClient(client, { wire, noticeTimeoutMs: 200 }) };
  };

  test("a job that takes its time gives its result, once", async () => {
    const { calls, backend } = await begin();
    const seen: Task[] = [];
    const pending = calls.beginCall("job", {}, { onStatus: (status) => void seen.push(status) });
    await eventually(() => backend.starts() === 1);
    const taskId = wire === "none" ? undefined : await pending.created;
    if (wire !== "none") await eventually(() => seen.some(({ status }) => status === "working"));
    backend.of().succeed({ done: 1 });
    expect(await jsonOf(pending)).toEqual({ done: 1 });
    expect(await pending.created).toBe(wire === "none" ? undefined : taskId);
    expect(pending.taskId).toBe(taskId);
    if (wire !== "none") expect(seen.at(-1)).toMatchObject({ taskId, status: "completed" });
    expect(backend.starts()).toBe(1);
  });

  test("a job that is done at once, and a tool that makes no tasks", async () => {
    const { calls, backend } = await begin();
    expect(await jsonOf(calls.beginCall("quick"))).toEqual({ quick: true });
    expect(await jsonOf(calls.beginCall("plain"))).toEqual({ quick: true });
    expect(backend.starts()).toBe(2);
  });

  test("a tool that reports a failure has a result", async () => {
    const { calls } = await begin();
    const result = await calls.beginCall("fails").result();
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain("exit code 2");
  });

  test("a tool that is not there is refused", async () => {
    const { calls } = await begin();
    const error = await calls
      .beginCall("jbo")
      .result()
      .catch((reason: unknown) => reason);
    expect(isTaskClientError(error, "refused") && error.rpc?.code).toBe(-32_602);
  });

  test("a large result is read whole", async () => {
    const { calls } = await begin();
    const result = await calls.beginCall("large").result();
    expect((await calls.readWhole(result)).text).toHaveLength(300_000 + '{"text":""}'.length);
  });

  test("a question is asked once, and its answer goes on", async () => {
    const { calls, backend } = await begin();
    const asked: unknown[] = [];
    const pending = calls.beginCall(
      "ask",
      {},
      {
        onQuestion: async (question) => {
          asked.push(question.message);
          // It is seen again and again meanwhile.
          if (wire !== "none") await eventually(() => backend.callsOf("inspect").length >= 2 || asked.length > 1);
          return { action: "accept", content: { ok: true } };
        },
      },
    );
    expect(await jsonOf(pending)).toEqual({ answered: { ok: true } });
    expect(asked).toEqual(["Sure?"]);
  });

  test("cancel stops the job", async () => {
    const { calls, backend } = await begin();
    const pending = calls.beginCall("job");
    await eventually(() => backend.starts() === 1);
    await pending.cancel();
    await expect(pending.result()).rejects.toMatchObject({ code: "cancelled" });
    await eventually(() => backend.of().cancels.length === 1);
  });
});

const taskWays = ways.filter(([, wire]) => wire !== "none");

test.each(taskWays)("%s: a task that is over is not cancelled, and keeps its result", async (_name, wire, open) => {
  const served = await serve({ wires });
  const calls = taskClient(await open(served), { wire });
  const pending = calls.beginCall("quick");
  expect(await jsonOf(pending)).toEqual({ quick: true });
  if ((await pending.created) === undefined) return;
  await calls.resume(pending.taskId ?? "").result();
  if (wire !== "sep-1686") await calls.resume(pending.taskId ?? "").cancel();
  expect(await jsonOf(calls.resume(pending.taskId ?? ""))).toEqual({ quick: true });
});

test("a signal that has fired already: nothing is sent", async () => {
  const served = await serve({ wires });
  const [way] = ways;
  const calls = taskClient((await way?.[2](served)) as never);
  expect(() => calls.beginCall("job", {}, { signal: AbortSignal.abort() })).toThrow(
    expect.objectContaining({ code: "detached" }),
  );
  expect(served.backend.starts()).toBe(0);
});

describe.each(taskWays)("%s: the wait ends, the task goes on", (_name, wire, open) => {
  test("by time, by signal, by detach; and goes on elsewhere", async () => {
    const served = await serve({ wires });
    const { backend } = served;
    const timeoutMs = 300_000;
    const timeIsUp = deferred<void>();
    const sleep: Clock["sleep"] = (ms, signal) => (ms === timeoutMs ? timeIsUp.promise : systemClock.sleep(ms, signal));
    const calls = createTaskClient(await open(served), { wire }, { ...systemClock, sleep });
    const timed = calls.beginCall("job", {}, { timeoutMs });
    await timed.created;
    timeIsUp.resolve();
    const error = await timed.result().catch((reason: unknown) => reason);
    const taskId = timed.taskId ?? "";
    expect(error).toMatchObject({ code: "timeout", taskId });
    expect(taskId).not.toBe("");

    const giveUp = new AbortController();
    const other = taskClient(await open(served), { wire });
    const signalled = other.resume(taskId, { signal: giveUp.signal });
    giveUp.abort();
    await expect(signalled.result()).rejects.toMatchObject({ code: "detached", taskId });
    const detached = other.resume(taskId);
    detached.detach();
    await expect(detached.result()).rejects.toMatchObject({ code: "detached", taskId });

    const resumed = other.resume(taskId);
    await eventually(() => resumed.task?.status === "working");
    expect(backend.of().cancels).toEqual([]);
    backend.of().succeed({ done: 2 });
    expect(await jsonOf(resumed)).toEqual({ done: 2 });
    expect(await other.readWhole(await other.resume(taskId).result())).toMatchObject({ json: { done: 2 } });
    expect(backend.starts()).toBe(1);
    await expect(other.resume("nobody-has-this").result()).rejects.toMatchObject({ code: "not_found" });
    // SEP-1686 deletes what is cancelled by its ID, so that one that is not there may have been cancelled before.
    const code = wire === "sep-1686" ? "cancelled" : "not_found";
    await expect(other.resume("nobody-has-this").cancel()).rejects.toMatchObject({ code });
  });
});
