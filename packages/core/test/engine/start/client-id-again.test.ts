import { describe, expect, it } from "@jest/globals";
import { attempted, createWorld, mine, type Process, stop } from "../harness.ts";
import { mint, notFound, open, taken, taskId } from "./client-minting.ts";

describe("the same ID again by the same owner", () => {
  it("is refused at once, whatever it asks for", async () => {
    const world = await open();
    await mint(world);
    await expect(mint(world)).rejects.toMatchObject(taken);
    await expect(mint(world, { other: 1 }, "other")).rejects.toMatchObject(taken);
    expect(world.backend.starts()).toBe(1);
  });

  it("starts one execution when it comes many times at once to several processes", async () => {
    const world = createWorld();
    const processes = [await world.boot(), await world.boot()];
    const attempts = Array.from({ length: 10 }, (_, index) => mint(processes[index % 2] as Process));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(taken);
    expect(world.backend.starts()).toBe(1);
  });

  it("starts one execution wherever the first process died", async () => {
    let survived = false;
    for (let count = 0; !survived; count++) {
      const world = createWorld({ adapter: { without: ["watch"] } });
      const first = await world.boot();
      first.killAfter(count);
      const work = attempted(mint(first));
      await world.clock.advance(3_000);
      survived = !first.isKilled;
      if (survived) await work;
      first.kill();
      const second = await world.boot();
      const outcomes = await Promise.allSettled([mint(second), mint(second)]);
      await world.clock.advance(120_000);
      await expect(mint(second)).rejects.toMatchObject(taken);
      expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
      expect([count, world.backend.starts()]).toEqual([count, 1]);
      expect((await second.engine.readTask(taskId, mine)).record).toMatchObject({ state: "running" });
      expect(count).toBeLessThan(100);
    }
  });

  const endings: Readonly<Record<string, (world: Awaited<ReturnType<typeof open>>) => Promise<void>>> = {
    succeeded: async ({ backend }) => backend.of().succeed(),
    "was cancelled": async ({ engine }) => void (await engine.cancelTask(taskId, mine, stop)),
    expired: async ({ backend, clock }) => {
      backend.faults.always("forget", { before: { code: "throttled", retryAfterMs: 60_000 } });
      backend.of().succeed();
      await clock.advance(60_000);
    },
    "was purged": async ({ backend, clock }) => {
      backend.of().succeed();
      await clock.advance(70_000);
    },
    "was deleted": ({ engine }) => engine.deleteTask(taskId, mine),
  };

  it.each(Object.entries(endings))("starts nothing after its task %s", async (_how, end) => {
    const world = await open({ task: { retentionMs: 50_000 } });
    await mint(world);
    await end(world);
    await world.clock.settle();
    await expect(mint(world)).rejects.toMatchObject(taken);
    const next = await world.boot();
    await expect(mint(next)).rejects.toMatchObject(taken);
    expect(world.backend.starts()).toBe(1);
  });

  it("starts nothing after its start was refused", async () => {
    const world = await open();
    world.backend.faults.next("start", { before: "denied" });
    await expect(mint(world)).rejects.toMatchObject({ code: "denied" });
    await expect(world.engine.readTask(taskId, mine)).rejects.toMatchObject(notFound);
    await expect(mint(world)).rejects.toMatchObject(taken);
    expect(world.backend.starts()).toBe(0);
  });

  it("is free again when tombstoneMs have passed since its task was gone", async () => {
    const world = await open({ limits: { tombstoneMs: 100_000 } });
    await mint(world);
    await world.clock.advance(200_000);
    await world.engine.deleteTask(taskId, mine);
    await world.clock.advance(99_000);
    await expect(mint(world)).rejects.toMatchObject(taken);
    await world.clock.advance(2_000);
    await expect(mint(world)).resolves.toMatchObject({ record: { taskId, state: "running" } });
  });

  it("may be tried again when the first call was wrong: no task came of it", async () => {
    const world = await open({ tool: { input: { type: "object", required: ["size"] } } });
    await expect(mint(world)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(mint(world, { size: 1 })).resolves.toMatchObject({ record: { taskId } });
  });
});
