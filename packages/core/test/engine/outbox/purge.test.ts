import { describe, expect, it } from "@jest/globals";
import { asTaskId, BridgeError } from "../../../src/index.ts";
import type { TaskStore } from "../../../src/store.ts";
import { createWorld, type Process, startTask, type World, type WorldOptions } from "../harness.ts";

const retentionMs = 1_000;

/** What a store is asked to write and to look for, in order. */
interface Reported {
  readonly writes: string[];
  readonly dues: number[];
  maxAtOnce: number;
}

/** A world whose store tells what is asked of it; `beforeRemoval` comes in between a look and the removal that follows. */
const open = async (
  options: WorldOptions = {},
  beforeRemoval: (store: TaskStore, taskId: string) => Promise<void> = async () => {},
) => {
  const reported: Reported = { writes: [], dues: [], maxAtOnce: 0 };
  let atOnce = 0;
  const world = createWorld({
    task: { retentionMs },
    limits: { maxConcurrentTasksPerOwner: 100_000 },
    ...options,
    adapter: { without: ["watch"], onStart: (execution) => execution.succeed({ quick: true }), ...options.adapter },
    wrapStore: (store) => ({
      ...store,
      revise: async (...given) => {
        reported.writes.push("revise");
        return store.revise(...given);
      },
      remove: async (taskId, expected) => {
        reported.writes.push(`remove ${expected}`);
        reported.maxAtOnce = Math.max(reported.maxAtOnce, ++atOnce);
        await beforeRemoval(store, taskId);
        atOnce -= 1;
        return store.remove(taskId, expected);
      },
      due: async (limit) => {
        reported.dues.push(limit);
        return store.due(limit);
      },
    }),
  });
  return { ...world, ...(await world.boot()), reported };
};
type Open = World & Process & { readonly reported: Reported };

/** Ended, and kept for a while. */
const end = async (world: Open, count = 1): Promise<readonly string[]> => {
  const views = await Promise.all(Array.from({ length: count }, () => startTask(world)));
  await world.clock.settle();
  const ids = views.map(({ record }) => record.taskId);
  for (const id of ids.slice(0, 1)) expect(await world.record(id)).toMatchObject({ state: "succeeded" });
  world.reported.writes.length = 0;
  world.reported.dues.length = 0;
  return ids;
};

const forgets = (world: Open): number => world.backend.callsOf("forget").length;

describe("a task whose time is over", () => {
  it("is removed by one write, of the revision that was seen", async () => {
    const world = await open();
    const [taskId = ""] = await end(world);
    const revision = (await world.record(taskId))?.revision;
    await world.clock.advance(retentionMs);
    expect(world.reported.writes).toEqual([`remove ${revision}`]);
    expect(await world.record(taskId)).toBeUndefined();
    expect(world.backend.of().forgotten).toBe(true);
    expect([world.audited("task_expired").length, world.audited("task_removed").length]).toEqual([1, 1]);
  });

  it("stays when it was changed meanwhile, and is looked at as it has become", async () => {
    let isChanged = false;
    const world = await open({}, async (store, taskId) => {
      const record = await store.read(asTaskId(taskId));
      if (isChanged || record === undefined) return;
      isChanged = true;
      const expiresAt = store.now() + 60_000;
      await store.revise({ ...record, expiresAt, wakeAt: expiresAt }, record.revision);
    });
    const [taskId = ""] = await end(world);
    await world.clock.advance(retentionMs + 59_000);
    expect(await world.record(taskId)).toMatchObject({ state: "succeeded", output: expect.anything() });
    expect((await world.record(taskId))?.expired).toBeUndefined();
    expect(world.audited("task_removed")).toEqual([]);
    await world.clock.advance(1_000);
    expect(await world.record(taskId)).toBeUndefined();
  });

  it("is expired first while something at the backend is to be stopped", async () => {
    const world = await open({
      task: { retentionMs, maxRunMs: 2_000 },
      adapter: { traits: { cancel: "requested" }, onStart: () => {} },
    });
    const { record } = await startTask(world);
    await world.clock.advance(5_000);
    expect(await world.record(record.taskId)).toMatchObject({ expired: true, slotHeld: true });
    expect([forgets(world), world.reported.writes.some((write) => write.startsWith("remove"))]).toEqual([0, false]);
    world.backend.of().stop();
    await world.clock.advance(120_000);
    expect(await world.record(record.taskId)).toBeUndefined();
    expect(forgets(world)).toBe(1);
  });

  it("stays, expired and without its payloads, until a backend that is away has forgotten it", async () => {
    const world = await open();
    world.backend.faults.next("forget", { before: { code: "throttled", retryAfterMs: 60_000 } });
    const [taskId = ""] = await end(world);
    await world.clock.advance(retentionMs);
    expect(world.reported.writes).toEqual(["revise"]);
    expect(await world.record(taskId)).toMatchObject({
      expired: true,
      effects: [{ kind: "forget", attempts: 1, lastError: expect.stringContaining("throttled") }],
    });
    expect(await world.store.readPayload(asTaskId(taskId), "output", { offset: 0, length: 9 })).toBeUndefined();
    await world.clock.advance(59_000);
    expect([forgets(world), await world.record(taskId)]).toEqual([1, expect.anything()]);
    await world.clock.advance(2_000);
    expect([forgets(world), await world.record(taskId)]).toEqual([2, undefined]);
  });

  it("goes although its backend will never forget it", async () => {
    const world = await open();
    world.backend.faults.next("forget", { before: { code: "denied" } });
    const [taskId = ""] = await end(world);
    await world.clock.advance(retentionMs);
    expect([forgets(world), await world.record(taskId)]).toEqual([1, undefined]);
    expect(world.audited("effect_dropped")).toHaveLength(1);
  });

  it("is forgotten again and removed by another process when one dies in between", async () => {
    const dying: { process?: Process } = {};
    const world = await open({}, async () => {
      const { process } = dying;
      delete dying.process;
      process?.kill();
      if (process !== undefined) throw new BridgeError("unavailable", "nothing was written");
    });
    dying.process = world;
    const [taskId = ""] = await end(world);
    await world.clock.advance(retentionMs);
    expect(forgets(world)).toBe(1);
    expect(await world.record(taskId)).toMatchObject({ state: "succeeded" });
    await world.boot();
    await world.clock.advance(1_000);
    expect([forgets(world), await world.record(taskId)]).toEqual([2, undefined]);
  });

  it("is told of once although two processes are at it", async () => {
    const world = await open();
    await world.boot();
    await end(world);
    await world.clock.advance(retentionMs);
    expect(world.reported.writes.length).toBeGreaterThanOrEqual(1);
    expect([world.audited("task_expired").length, world.audited("task_removed").length]).toEqual([1, 1]);
  });

  it("is no more in the way when the store was away at first", async () => {
    let isUnavailable = true;
    const world = await open({}, async () => {
      if (isUnavailable) throw new BridgeError("unavailable", "the store is away");
    });
    const [taskId = ""] = await end(world);
    await world.clock.advance(retentionMs);
    expect(await world.record(taskId)).toMatchObject({ state: "succeeded" });
    isUnavailable = false;
    await world.clock.advance(2_000);
    expect(await world.record(taskId)).toBeUndefined();
  });
});

describe("hundreds of tasks whose time is over at once", () => {
  it.each([
    ["nothing is kept for", ["watch", "forget"] as const, 32],
    ["a backend keeps something for", ["watch"] as const, 16],
  ])("that %s are looked for in ever larger pages, and removed so many at a time", async (_, without, maximum) => {
    const world = await open({ adapter: { without: [...without] } });
    const ids = await end(world, 500);
    await world.clock.advance(retentionMs);
    expect(world.reported.writes).toHaveLength(ids.length);
    expect((await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10)).records).toEqual([]);
    // The looks that find nothing are small again.
    expect(world.reported.dues.slice(0, 6)).toEqual([16, 32, 64, 128, 128, 128]);
    expect(world.reported.dues.at(-1)).toBe(16);
    expect(world.reported.maxAtOnce).toBeLessThanOrEqual(maximum);
    expect(world.reported.maxAtOnce).toBeGreaterThan(maximum / 2);
  });

  it("do not keep one that stays from being served", async () => {
    const world = await open();
    const [stuck = ""] = await end(world);
    world.backend.faults.next("forget", { before: { code: "unavailable" } });
    await world.clock.advance(retentionMs / 2);
    await end(world, 300);
    await world.clock.advance(60_000);
    expect(await world.record(stuck)).toBeUndefined();
    expect((await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10)).records).toEqual([]);
  });
});
