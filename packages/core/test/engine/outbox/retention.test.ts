import { describe, expect, it } from "@jest/globals";
import type { TaskView } from "../../../src/index.ts";
import type { TaskStore } from "../../../src/store.ts";
import { createWorld, finalStop, mine, startTask, type WorldOptions } from "../harness.ts";

/** Tasks in batches of a hundred. `npm run soak` raises it to the ten thousand of case 10. */
const expiring = Number(process.env.TASKBRIDGE_EXPIRING ?? 2_000);

const open = async (options: WorldOptions = {}, more: { readonly retentionMs?: number } = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  const { record } = await startTask(process, {}, more);
  return { ...world, ...process, taskId: record.taskId };
};
type Open = Awaited<ReturnType<typeof open>>;

const expired = { code: "not_found", message: "Task has expired", data: { expired: true } };

const everyVerb = ({ engine, taskId }: Open): readonly Promise<unknown>[] => [
  engine.readTask(taskId, mine),
  engine.waitForTask(taskId, mine, { until: "ended", timeoutMs: 1_000 }),
  engine.followTask(taskId, mine, () => {}),
  engine.answerTask(taskId, mine, {}),
  engine.claimQuestion(taskId, mine, "q1", { by: "me", forMs: 1_000 }),
  engine.cancelTask(taskId, mine, finalStop),
  engine.readOutput(taskId, mine, { offset: 0, length: 1 }),
  engine.deleteTask(taskId, mine),
];

describe("how long a task is kept", () => {
  it("counts from its end, however long it ran (cases 2 and 7)", async () => {
    const world = await open({ task: { retentionMs: 3_600_000 } }, { retentionMs: 600_000 });
    await world.clock.advance(3_600_000);
    expect(await world.record(world.taskId)).toMatchObject({ state: "running", slotHeld: true });
    expect((await world.record(world.taskId))?.expiresAt).toBeUndefined();
    world.backend.of().succeed({ long: "run" });
    await world.clock.advance(599_000);
    const view = await world.engine.readTask(world.taskId, mine);
    expect(Buffer.from(view.output ?? []).toString()).toBe('{"long":"run"}');
    await world.clock.advance(2_000);
    await expect(world.engine.readTask(world.taskId, mine)).rejects.toMatchObject({ code: "not_found" });
  });

  it.each([
    ["the caller's wish", 5_000, 5_000],
    ["the tool's setting, when the caller wishes for more", 999_999_999, 60_000],
    ["the tool's setting, when the caller wishes for nothing", undefined, 60_000],
    ["nothing, when the caller wants nothing kept", -1, 0],
  ])("is %s", async (_what, retentionMs, kept) => {
    const world = await open({ task: { retentionMs: 60_000 } }, retentionMs === undefined ? {} : { retentionMs });
    expect((await world.record(world.taskId))?.policy.retentionMs).toBe(kept);
  });

  it("is never more than the server allows", async () => {
    const world = await open({ task: { retentionMs: 60_000 }, limits: { maxRetentionMs: 10_000 } });
    expect((await world.record(world.taskId))?.policy.retentionMs).toBe(10_000);
  });

  it("is one time in one record, which no reading and no waiting moves (case 9)", async () => {
    const world = await open({ task: { retentionMs: 10_000 } });
    world.backend.of().succeed({});
    await world.clock.settle();
    const before = await world.record(world.taskId);
    for (let second = 0; second < 9; second++) {
      await world.clock.advance(1_000);
      await world.engine.readTask(world.taskId, mine);
      await world.engine.waitForTask(world.taskId, mine, { until: "ended", timeoutMs: 1_000 });
    }
    expect(await world.record(world.taskId)).toEqual(before);
    await world.clock.advance(1_000);
    await expect(world.engine.readTask(world.taskId, mine)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a task whose time is over", () => {
  const stuck = async (): Promise<Open> => {
    const world = await open({ task: { retentionMs: 1_000 } });
    world.backend.faults.always("forget", { before: { code: "throttled", retryAfterMs: 60_000 } });
    world.backend.of().succeed({ some: "output" });
    await world.clock.advance(1_500);
    return world;
  };

  it("answers every verb the same while its backend has not forgotten", async () => {
    const world = await stuck();
    expect(await world.record(world.taskId)).toMatchObject({ expired: true });
    for (const answer of everyVerb(world)) await expect(answer).rejects.toMatchObject(expired);
    const { tasks } = await world.engine.listTasks(mine, {}, undefined, 10);
    expect(tasks).toEqual([]);
  });

  it("answers every verb like an unknown one once it is gone", async () => {
    const world = await open({ task: { retentionMs: 1_000 } });
    world.backend.of().succeed({});
    await world.clock.advance(5_000);
    for (const answer of everyVerb(world))
      await expect(answer).rejects.toMatchObject({ code: "not_found", message: "Task not found", data: undefined });
  });

  it("has its payloads freed at once", async () => {
    const world = await stuck();
    for (const name of ["input", "output"] as const)
      expect(
        await world.store.readPayload((await world.record(world.taskId))?.taskId as never, name, {
          offset: 0,
          length: 9,
        }),
      ).toBeUndefined();
    expect((await world.record(world.taskId))?.output).toBeUndefined();
  });

  it("logs a late success, throws nothing and stays gone (case 3)", async () => {
    for (const how of ["expired", "removed"]) {
      const world = await open({
        task: { retentionMs: 1_000, maxRunMs: 2_000 },
        adapter: { traits: { cancel: "requested" } },
      });
      await world.clock.advance(4_000);
      expect(await world.record(world.taskId)).toMatchObject({ expired: true, slotHeld: true });
      const { key } = world.backend.of();
      if (how === "removed") world.backend.of().stop();
      await world.clock.advance(2_000);
      const update = world.backend.webhook([
        { key, snapshot: { status: "succeeded", output: { kind: "text", text: "late" } } },
      ]);
      await world.engine.receive("fake", update);
      await world.clock.advance(2_000);
      await expect(world.engine.readTask(world.taskId, mine)).rejects.toMatchObject({ code: "not_found" });
      expect(await world.record(world.taskId)).toBeUndefined();
      expect(world.audited(how === "removed" ? "unmatched_update" : "late_outcome")).toHaveLength(1);
      expect(world.audited("internal_error")).toEqual([]);
    }
  });

  it("is told to those who follow and wait when it goes early", async () => {
    const world = await open();
    const reported: string[] = [];
    const observe = (view: TaskView): void => void reported.push(view.record.state);
    await world.engine.followTask(world.taskId, mine, observe, () => void reported.push("gone"));
    const wait = world.engine.waitForTask(world.taskId, mine, { until: "ended", timeoutMs: 3_600_000 });
    await world.engine.deleteTask(world.taskId, mine);
    await world.clock.settle();
    expect((await wait).record.state).toBe("cancelled");
    expect(["cancelled", "gone"]).toContain(reported.at(-1));
  });
});

describe("deleting", () => {
  it("stops what runs, forgets it, and leaves nothing", async () => {
    const world = await open();
    await world.engine.deleteTask(world.taskId, mine);
    await expect(world.engine.readTask(world.taskId, mine)).rejects.toMatchObject({ code: "not_found" });
    await world.clock.advance(5_000);
    expect(world.backend.of()).toMatchObject({ snapshot: { status: "cancelled" }, forgotten: true });
    expect(await world.record(world.taskId)).toBeUndefined();
  });

  it("removes an ended task before it resolves", async () => {
    const world = await open();
    world.backend.of().succeed({});
    await world.clock.settle();
    await world.engine.deleteTask(world.taskId, mine);
    expect(await world.record(world.taskId)).toBeUndefined();
    expect(world.backend.of().forgotten).toBe(true);
  });

  it("keeps the slot until the execution has ended, and then lets the record go", async () => {
    const world = await open({ adapter: { traits: { cancel: "requested" } } });
    await world.engine.deleteTask(world.taskId, mine);
    await world.clock.advance(200_000);
    expect(await world.record(world.taskId)).toMatchObject({ expired: true, slotHeld: true });
    world.backend.of().stop();
    await world.clock.advance(1_000);
    expect(await world.record(world.taskId)).toBeUndefined();
  });
});

describe(`${expiring} tasks`, () => {
  it("that finish and expire leave the store, and this process's memory, as they were (case 10)", async () => {
    let records = 0;
    const count = (store: TaskStore): TaskStore => ({
      ...store,
      create: async (...given) => {
        const created = await store.create(...given);
        records++;
        return created;
      },
      remove: async (...given) => {
        const wasThere = await store.remove(...given);
        if (wasThere) records--;
        return wasThere;
      },
    });
    const world = createWorld({
      wrapStore: count,
      task: { retentionMs: 1_000 },
      limits: { maxConcurrentTasksPerOwner: 100_000 },
      adapter: { without: ["watch"], onStart: (execution) => execution.succeed({ quick: true }) },
    });
    const process = await world.boot({ store: world.store, adapters: { fake: world.backend.connect() } });
    await world.clock.advance(10_000);
    const timersWhenIdle = world.clock.scheduled;
    for (let batch = 0; batch < expiring / 100; batch++) {
      await Promise.all(Array.from({ length: 100 }, () => startTask(process)));
      await world.clock.advance(1_500);
    }
    await world.clock.advance(10_000);
    expect(world.backend.starts()).toBe(expiring);
    expect(records).toBe(0);
    expect(world.backend.executions.every(({ forgotten }) => forgotten)).toBe(true);
    expect((await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10)).records).toEqual([]);
    expect(world.clock.scheduled).toBeLessThanOrEqual(timersWhenIdle);
  }, 120_000);
});
