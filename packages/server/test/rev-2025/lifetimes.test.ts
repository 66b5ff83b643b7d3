import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import { eventually, type ServeOptions, serve, stopAll } from "../serve.ts";

afterEach(stopAll);

const minute = 60_000;
const hour = 60 * minute;

interface ShownTask {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttl: number | null;
}

/** A server whose time stands still until the test moves it. */
const setUp = async (task: object = {}, options: ServeOptions = {}) => {
  const clock = fakeClock();
  const served = await serve({
    tools: [{ name: "job", adapter: "fake", target: { run: "job" }, task }],
    clock,
    store: memoryStore({ clock }),
    ...options,
    // What is asked after an hour is asked in the same session.
    limits: { sessionIdleMs: 24 * hour, ...options.limits },
    fake: { clock, ...options.fake },
  });
  return { ...served, clock, session: await rpc2025(served.url) };
};
const create = async (session: Rpc2025, task: object): Promise<ShownTask> =>
  (await session.request("tools/call", { name: "job", task })).result.task as ShownTask;
const get = async (session: Rpc2025, { taskId }: Pick<ShownTask, "taskId">): Promise<ShownTask> =>
  (await session.request("tasks/get", { taskId })).result as unknown as ShownTask;
const isGone = async (session: Rpc2025, { taskId }: ShownTask): Promise<boolean> => {
  const { error } = await session.request("tasks/result", { taskId });
  return error.code === -32_602 && /^Task (has expired|not found)$/.test(error.message);
};

describe("[B-5] ttl", () => {
  test("case 2: ten minutes are asked for, the job takes an hour: its result is readable for ten more", async () => {
    const { session, clock, backend } = await setUp();
    const task = await create(session, { ttl: 10 * minute });
    expect(task.ttl).toBeNull();
    await clock.advance(hour);
    expect(await get(session, task)).toMatchObject({ status: "working", ttl: null, createdAt: task.createdAt });
    backend.of().succeed(1);
    await backend.events.settled();
    const ended = await get(session, task);
    expect(ended).toMatchObject({ status: "completed", ttl: hour + 10 * minute, createdAt: task.createdAt });
    expect(Date.parse(ended.lastUpdatedAt)).toBe(clock.now());
    await clock.advance(10 * minute - 1);
    expect((await session.request("tasks/result", { taskId: task.taskId })).result.isError).toBe(false);
    await clock.advance(1);
    expect(Date.parse(task.createdAt) + (ended.ttl ?? 0)).toBe(clock.now());
    expect(await isGone(session, task)).toBe(true);
  });

  test("case 7: the time that was asked for passes while the job runs: it goes on, and holds its place", async () => {
    const { session, clock, backend } = await setUp({}, { limits: { maxConcurrentTasksPerOwner: 1 } });
    const task = await create(session, { ttl: minute });
    await clock.advance(hour);
    expect(await get(session, task)).toMatchObject({ status: "working", ttl: null });
    expect((await session.request("tools/call", { name: "job", task: {} })).error).toMatchObject({
      code: 429,
      data: { openTaskIds: [task.taskId] },
    });
    expect(backend.callsOf("cancel")).toEqual([]);
    expect(backend.of().snapshot.status).toBe("running");
  });

  test("case 7: with maxRunMs the job is stopped, and the task says so", async () => {
    const { session, clock, backend } = await setUp({ maxRunMs: minute, retentionMs: hour });
    const task = await create(session, {});
    expect(task.ttl).toBe(minute + hour);
    const wait = session.request("tasks/result", { taskId: task.taskId });
    await eventually(async () => (await get(session, task)).status === "working");
    await clock.advance(minute - 1);
    expect((await get(session, task)).status).toBe("working");
    await eventually(async () => {
      await clock.advance(1_000);
      return (await get(session, task)).status === "failed";
    });
    expect(await get(session, task)).toMatchObject({ statusMessage: expect.stringMatching(/60|minute|maxRun/i) });
    expect((await wait).error).toMatchObject({ code: -32_603, data: { reason: "max_run" } });
    expect(backend.of().cancels).toHaveLength(1);
  });

  test.each([
    ["none", {}, hour],
    ["null, for no limit", { ttl: null }, hour],
    ["nothing at all, raised to what leaves time to ask", { ttl: 0 }, minute],
    ["a fraction", { ttl: 2 * minute + 0.5 }, 2 * minute + 1],
    ["more than the tool allows", { ttl: 1e15 }, hour],
  ])("of a request for %s is the actual one after the end", async (_name, asked, retentionMs) => {
    const { session, clock, backend } = await setUp({ retentionMs: hour });
    const task = await create(session, asked);
    await clock.advance(5_000);
    backend.of().succeed(1);
    await backend.events.settled();
    expect(await get(session, task)).toMatchObject({ status: "completed", ttl: 5_000 + retentionMs });
    await clock.advance(retentionMs - 1);
    expect(await isGone(session, task)).toBe(false);
    await clock.advance(1);
    expect(await isGone(session, task)).toBe(true);
  });

  test("of a cancelled task counts from its end as well", async () => {
    const { session, clock } = await setUp({ retentionMs: hour });
    const task = await create(session, { ttl: 2 * minute });
    await clock.advance(1_000);
    const { result } = await session.request("tasks/cancel", { taskId: task.taskId });
    expect(result).toMatchObject({ status: "cancelled", ttl: 1_000 + 2 * minute, createdAt: task.createdAt });
  });
});

describe("[B-5] lastUpdatedAt", () => {
  test("moves only when something has changed", async () => {
    const { session, clock, backend } = await setUp();
    const task = await create(session, {});
    const first = await get(session, task);
    await clock.advance(5_000);
    expect((await get(session, task)).lastUpdatedAt).toBe(first.lastUpdatedAt);
    backend.of().progress({ done: 1, total: 2 });
    await backend.events.settled();
    const moved = await get(session, task);
    expect([moved.statusMessage, Date.parse(moved.lastUpdatedAt)]).toEqual(["1 of 2", clock.now()]);
    await clock.advance(5_000);
    expect(await get(session, task)).toMatchObject({ lastUpdatedAt: moved.lastUpdatedAt, createdAt: task.createdAt });
  });
});
