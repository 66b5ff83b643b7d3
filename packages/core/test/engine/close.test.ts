import { describe, expect, it } from "@jest/globals";
import { createWorld, mine, startTask, stop, type WorldOptions } from "./harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  return { ...world, ...process };
};

describe("closing", () => {
  it("waits for what is being sent, and leaves nothing scheduled and nobody hanging", async () => {
    const world = await open({
      adapter: { without: ["watch"], traits: { cancel: "requested", minInspectIntervalMs: 60_000 } },
    });
    const { record } = await startTask(world);
    const { taskId } = record;
    await world.engine.readTask(taskId, mine);
    const waiting = world.engine.waitForTask(taskId, mine, { until: "ended", timeoutMs: 3_600_000 });
    await world.engine.followTask(taskId, mine, () => {});
    world.backend.faults.next("cancel", { answerDelayMs: 1_000 });
    await world.engine.cancelTask(taskId, mine, stop);
    let isClosed = false;
    const closed = world.engine.close().then(() => {
      isClosed = true;
    });
    await world.clock.advance(900);
    expect(isClosed).toBe(false);
    await world.clock.advance(200);
    await closed;
    expect((await waiting).record.state).toBe("running");
    expect(world.clock.scheduled).toBe(0);
    const { revision } = (await world.record(taskId)) ?? {};
    const calls = world.backend.calls.length;
    await world.clock.advance(600_000);
    expect(await world.record(taskId)).toMatchObject({
      revision,
      cancel: { deliveredAt: expect.any(Number) },
      effects: [],
    });
    expect(world.backend.calls).toHaveLength(calls);
  });

  it("gives up what hangs after closeGraceMs, and the next process finishes it", async () => {
    const world = await open({ adapter: { without: ["watch"] }, limits: { closeGraceMs: 3_000 } });
    world.backend.faults.next("start", { after: "hang" });
    const pending = startTask(world);
    await world.clock.advance(2_000);
    const { record } = await pending;
    let isClosed = false;
    void world.engine.close().then(() => {
      isClosed = true;
    });
    await world.clock.advance(3_000);
    expect(isClosed).toBe(true);
    expect(world.clock.scheduled).toBe(0);
    await world.boot();
    await world.clock.advance(60_000);
    expect(await world.record(record.taskId)).toMatchObject({
      state: "running",
      ref: world.backend.of().ref,
      effects: [],
    });
    expect(world.backend.starts()).toBe(1);
  });

  it("ends its subscriptions and releases its lead, so that the next process takes over at once", async () => {
    const world = await open({ limits: { sweepIntervalMs: 60_000 } });
    const { record } = await startTask(world);
    await world.clock.advance(1_000);
    const closed = world.engine.close();
    await world.clock.settle();
    await closed;
    expect(world.clock.scheduled).toBe(0);
    world.backend.events.hold();
    world.backend.of().succeed({});
    await world.boot();
    await world.clock.advance(0);
    expect(await world.record(record.taskId)).toMatchObject({ state: "succeeded" });
  });
});

describe("a process that was stopped and goes on after another has taken over", () => {
  it.each([
    ["during its start", "start"],
    ["during its cancel", "cancel"],
  ] as const)("neither starts nor stops twice: %s", async (_when, verb) => {
    const world = await open({ adapter: { without: ["watch"] } });
    const created = startTask(world);
    if (verb === "cancel") {
      const { record } = await created;
      world.backend.faults.next("cancel", { delayMs: 1_000 });
      await world.engine.cancelTask(record.taskId, mine, stop);
    } else world.backend.faults.next("start", { delayMs: 1_000 });
    await world.clock.advance(500);
    world.pause();
    await world.boot();
    await world.clock.advance(120_000);
    world.resume();
    await world.clock.advance(120_000);
    await created;
    expect(world.backend.starts()).toBe(1);
    const [task] = (await world.engine.listTasks(mine, {}, undefined, 10)).tasks;
    expect(task?.record).toMatchObject(
      verb === "start" ? { state: "running", effects: [] } : { state: "cancelled", effects: [], slotHeld: false },
    );
    expect(world.backend.of().cancels).toHaveLength(verb === "start" ? 0 : 1);
    expect(world.audited("internal_error")).toEqual([]);
  });

  it("does not send a start whose time is over to a backend where it might be the second", async () => {
    let onReadPayload = (): void => {};
    const world = await open({
      adapter: { without: ["watch", "find"], traits: { start: { kind: "at-most-once" } } },
      wrapStore: (store) => ({
        ...store,
        readPayload: async (...given) => {
          onReadPayload();
          return store.readPayload(...given);
        },
      }),
    });
    onReadPayload = () => {
      onReadPayload = () => {};
      world.pause();
    };
    void startTask(world);
    await world.clock.settle();
    await world.boot();
    await world.clock.advance(120_000);
    world.resume();
    await world.clock.advance(120_000);
    expect(world.backend.starts()).toBe(0);
    const { records } = await world.store.list({ operator: true }, {}, undefined, 10);
    expect(records).toMatchObject([{ state: "failed", failure: { code: "start_unknown" }, slotHeld: false }]);
  });
});
