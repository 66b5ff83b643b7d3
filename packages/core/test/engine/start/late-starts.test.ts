import { describe, expect, it } from "@jest/globals";
import type { StartPromise } from "../../../src/adapter.ts";
import { createWorld, finalStop, mine, type Process, startTask, stop, type WorldOptions } from "../harness.ts";

const lagMs = 50_000;
/** Both show an execution, by `find`, long after it was started, and longer than a call may take. */
const idempotent: StartPromise = { kind: "idempotent", forMs: null, visibilityDelayMs: lagMs };
const findable: StartPromise = { kind: "findable", visibilityDelayMs: lagMs, windowMs: 600_000 };

const open = async (start: StartPromise, more: WorldOptions = {}) => {
  const world = createWorld({
    adapter: { traits: { start }, without: ["watch"], findableAfterMs: lagMs - 1 },
    ...more,
  });
  const first = await world.boot();
  const onlyTask = async () => {
    const { records } = await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10);
    expect(records).toHaveLength(1);
    return records[0] as NonNullable<(typeof records)[0]>;
  };
  const cancel = async ({ engine }: Process, how: typeof stop | typeof finalStop) =>
    engine.cancelTask((await onlyTask()).taskId, mine, how);
  const expectStopped = async (): Promise<void> => {
    expect(world.backend.starts()).toBe(1);
    expect(world.backend.of().snapshot.status).toBe("cancelled");
    expect(await onlyTask()).toMatchObject({ state: "cancelled", slotHeld: false, effects: [] });
  };
  return { ...world, first, onlyTask, cancel, expectStopped };
};

const promises = [
  ["idempotent", idempotent],
  ["findable", findable],
] as const;

describe.each(promises)("a start on an %s backend that is not wanted any more", (_what, promise) => {
  it.each([
    ["cancelled", stop],
    ["cancelled at once", finalStop],
  ])("is looked for until the backend shows what it has: %s after its answer was lost", async (_how, how) => {
    const world = await open(promise);
    world.backend.faults.next("start", { after: "lost-answer" });
    await startTask(world.first);
    await world.cancel(world.first, how);
    await world.clock.advance(lagMs - 2_000);
    expect(await world.onlyTask()).toMatchObject({ slotHeld: true });
    await world.clock.advance(300_000);
    await world.expectStopped();
  });

  it("is also looked for when it left as late as another process leaves it alone, and its own was killed", async () => {
    const world = await open(promise, {
      wrapStore: (store) => ({
        ...store,
        create: async (...given) => {
          const created = await store.create(...given);
          world.first.pause();
          return created;
        },
      }),
    });
    world.backend.faults.next("start", { after: "hang" });
    void startTask(world.first).catch(() => {});
    await world.clock.advance(31_000);
    const second = await world.boot();
    await world.cancel(second, stop);
    world.first.resume();
    await world.clock.settle();
    expect(world.backend.starts()).toBe(1);
    world.first.kill();
    await world.clock.advance(300_000);
    await world.expectStopped();
  });

  it("is looked for once more when it arrives after another process has given it up", async () => {
    const world = await open(promise);
    world.backend.faults.next("start", { delayMs: 400_000, after: "lost-answer" });
    void startTask(world.first).catch(() => {});
    await world.clock.settle();
    world.first.pause();
    const second = await world.boot();
    await world.cancel(second, stop);
    await world.clock.advance(390_000);
    expect(await world.onlyTask()).toMatchObject({ state: "cancelled", slotHeld: false, effects: [] });
    await world.clock.advance(20_000);
    world.first.resume();
    await world.clock.settle();
    expect(await world.onlyTask()).toMatchObject({ state: "cancelled", slotHeld: true, effects: [{ kind: "start" }] });
    await world.clock.advance(300_000);
    await world.expectStopped();
  });

  it("is looked for once more when it arrives while another process looks for the last time", async () => {
    const world = await open(promise);
    const sentAt = world.clock.now();
    world.backend.faults.next("start", { delayMs: 113_000, after: "lost-answer" });
    world.backend.faults.always("find", { answerDelayMs: 4_000 });
    void startTask(world.first).catch(() => {});
    await world.clock.settle();
    world.first.pause();
    const second = await world.boot();
    await world.cancel(second, stop);
    // It could have been sent after 32 s, for 30 s, and be shown 50 s later.
    await world.clock.advance(113_500);
    expect((world.backend.callsOf("find").at(-1)?.at ?? 0) - sentAt).toBe(112_000);
    world.first.resume();
    await world.clock.advance(10_000);
    expect(await world.onlyTask()).toMatchObject({ slotHeld: true, effects: [{ kind: "start" }, { kind: "cancel" }] });
    await world.clock.advance(300_000);
    await world.expectStopped();
  });

  it("is not given up by a look that was sent too early and is answered late", async () => {
    const world = await open(promise);
    world.backend.faults.next("start", { after: "lost-answer" });
    world.backend.faults.always("find", { answerDelayMs: 20_000 });
    await startTask(world.first);
    await world.cancel(world.first, stop);
    await world.clock.advance(300_000);
    await world.expectStopped();
  });

  it("is given up once nothing can be seen of it any more", async () => {
    const world = await open(promise);
    world.backend.faults.next("start", { before: "lost-answer" });
    await startTask(world.first);
    await world.cancel(world.first, stop);
    await world.clock.advance(lagMs + 2_000);
    expect(await world.onlyTask()).toMatchObject({ state: "cancelled", slotHeld: false, effects: [] });
    expect(world.backend.starts()).toBe(0);
  });
});
