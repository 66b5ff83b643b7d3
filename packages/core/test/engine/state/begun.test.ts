import { describe, expect, it } from "@jest/globals";
import { createWorld, mine, startTask, stop, type WorldOptions } from "../harness.ts";

const openQueued = async (options: WorldOptions = {}) => {
  const world = createWorld({ ...options, adapter: { ...options.adapter, startsAs: "queued" } });
  const process = await world.boot();
  const { record } = await startTask(process);
  await world.clock.advance(5_000);
  const begunAt = async (): Promise<number | undefined> =>
    (await process.engine.readTask(record.taskId, mine)).record.begunAt;
  return { ...world, ...process, taskId: record.taskId, begunAt };
};

describe("when a task has begun", () => {
  it("is unknown while its execution waits for its turn", async () => {
    expect(await (await openQueued()).begunAt()).toBeUndefined();
  });

  it("is when it was first seen to run, and never moves", async () => {
    const world = await openQueued();
    world.backend.of().run();
    await world.clock.settle();
    const begunAt = world.clock.now();
    expect(await world.begunAt()).toBe(begunAt);
    await world.clock.advance(5_000);
    world.backend.of().ask({ name: "sure" });
    await world.clock.advance(5_000);
    world.backend.of().succeed();
    await world.clock.settle();
    expect(await world.begunAt()).toBe(begunAt);
  });

  it.each(["succeed", "fail"] as const)("is told by an end, when it did %s before it was seen to run", async (how) => {
    const world = await openQueued();
    world.backend.of()[how]("at once");
    await world.clock.settle();
    expect(await world.begunAt()).toBe(world.clock.now());
  });

  it("stays unknown of one that was stopped while it waited", async () => {
    const world = await openQueued();
    await world.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.advance(1_000);
    expect(await world.record(world.taskId)).toMatchObject({ state: "cancelled", slotHeld: false });
    expect(await world.begunAt()).toBeUndefined();
  });
});
