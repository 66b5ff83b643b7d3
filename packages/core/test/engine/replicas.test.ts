import { describe, expect, it } from "@jest/globals";
import { BridgeError } from "../../src/index.ts";
import { attempted, createWorld, mine, type Process, startTask, stop, type WorldOptions } from "./harness.ts";

/** Three servers on one store. */
const open = async (options: WorldOptions = {}) => {
  const world = createWorld({ replicas: true, ...options });
  const replicas = [await world.boot(), await world.boot(), await world.boot()] as const;
  return { ...world, replicas };
};

const subscriptions = (world: { backend: { callsOf(verb: "watch"): readonly unknown[] } }): number =>
  world.backend.callsOf("watch").length;

describe("a backend that pushes, and three servers", () => {
  it("has one subscriber at a time", async () => {
    const world = await open();
    await world.clock.advance(600_000);
    expect(subscriptions(world)).toBe(1);
    expect(world.audited("lead_gained").filter(({ message }) => message === "watch:fake")).toHaveLength(1);
  });

  it("is heard by another soon after its subscriber was stopped, from where that one had got to", async () => {
    const world = await open({ adapter: { without: ["inspect"] } });
    const [first, second] = world.replicas;
    const { record } = await startTask(second);
    await world.clock.settle();
    await first.engine.close();
    world.backend.of().succeed({ while: "nobody listened" });
    await world.clock.advance(3_000);
    expect(subscriptions(world)).toBe(2);
    expect(await world.record(record.taskId)).toMatchObject({ state: "succeeded" });
  });

  it.each(["kill", "pause"] as const)("is heard by another within seconds of the %s of its subscriber", async (how) => {
    const world = await open({ adapter: { without: ["inspect"] } });
    const [first, second] = world.replicas;
    const { record } = await startTask(second);
    await world.clock.settle();
    first[how]();
    world.backend.of().succeed({ while: "it was away" });
    await world.clock.advance(15_000);
    expect(await world.record(record.taskId)).toMatchObject({ state: "succeeded" });
  });

  it("is left by a subscriber that was frozen, which puts back no position", async () => {
    const world = await open();
    const [frozen, second] = world.replicas;
    await startTask(second);
    await world.clock.settle();
    frozen.pause();
    world.backend.of().progress({ done: 1, total: 2 });
    await world.clock.advance(15_000);
    await startTask(second, { other: true });
    world.backend.of().succeed({});
    await world.clock.settle();
    const position = await world.store.values.read("watch:fake");
    const before = subscriptions(world);
    frozen.resume();
    await world.clock.advance(60_000);
    expect(await world.store.values.read("watch:fake")).toBe(position);
    expect(subscriptions(world)).toBe(before);
    expect(world.audited("lead_lost")).toContainEqual(expect.objectContaining({ message: "watch:fake" }));
  });
});

describe("one execution, read through three servers", () => {
  const poll = async (clock: { advance(ms: number): Promise<void> }, replicas: readonly Process[], id: string) => {
    for (let turn = 0; turn < 60; turn++) {
      const reads = replicas.flatMap(({ engine }) => [engine.readTask(id, mine), engine.readTask(id, mine)]);
      await clock.advance(500);
      await Promise.all(reads);
    }
  };

  it("is looked at once per interval", async () => {
    const world = await open({ adapter: { without: ["watch"] }, limits: { sweepIntervalMs: 86_400_000 } });
    const { record, pollIntervalMs } = await startTask(world.replicas[0]);
    const before = world.backend.callsOf("inspect").length;
    await poll(world.clock, world.replicas, record.taskId);
    const inspections = world.backend.callsOf("inspect").length - before;
    expect(inspections).toBeLessThanOrEqual(Math.ceil(30_000 / pollIntervalMs) + 1);
    expect(inspections).toBeGreaterThanOrEqual(Math.floor(30_000 / pollIntervalMs / 1.5));
  });

  it("is looked at by another server when the one that looked is gone", async () => {
    const world = await open({ adapter: { without: ["watch"] }, limits: { sweepIntervalMs: 86_400_000 } });
    const [first, second] = world.replicas;
    const { record, pollIntervalMs } = await startTask(first);
    await poll(world.clock, [first], record.taskId);
    first.kill();
    world.backend.of().succeed({});
    const wait = second.engine.waitForTask(record.taskId, mine, { until: "ended", timeoutMs: 60_000 });
    await world.clock.advance(2 * pollIntervalMs);
    expect((await wait).record.state).toBe("succeeded");
  });

  it("is swept by one server for all", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    await startTask(world.replicas[1]);
    const before = world.backend.callsOf("inspect").length;
    await world.clock.advance(600_000);
    const inspections = world.backend.callsOf("inspect").length - before;
    expect(inspections).toBeLessThanOrEqual(11);
    expect(inspections).toBeGreaterThanOrEqual(9);
  });
});

describe("a backend that takes so many calls a minute", () => {
  it("gets no more of them from three servers than from one", async () => {
    const traits = { maxInspectCallsPerMinute: 30, inspectBatch: 1 };
    const world = await open({ adapter: { without: ["watch"], traits }, limits: { maxConcurrentTasksPerOwner: 100 } });
    const ids: string[] = [];
    for (let index = 0; index < 12; index++) {
      const server = world.replicas[index % 3] as Process;
      ids.push((await startTask(server)).record.taskId);
    }
    const waits = ids.map((id, index) =>
      (world.replicas[index % 3] as Process).engine.waitForTask(id, mine, { until: "ended", timeoutMs: 60_000 }),
    );
    const before = world.backend.callsOf("inspect").length;
    await world.clock.advance(60_000);
    await Promise.all(waits);
    const calls = world.backend.callsOf("inspect").length - before;
    expect(calls).toBeLessThanOrEqual(30 + 1);
    expect(calls).toBeGreaterThan(20);
  });
});

describe("a change that one server makes", () => {
  it("wakes those who wait at another", async () => {
    const world = await open();
    const [one, other] = world.replicas;
    const { record } = await startTask(one);
    const wait = other.engine.waitForTask(record.taskId, mine, { until: "ended", timeoutMs: 60_000 });
    await world.clock.settle();
    world.backend.of().succeed({});
    await world.clock.settle();
    expect((await wait).record.state).toBe("succeeded");
  });

  it("wakes those who wait at one whose connection was broken meanwhile, as soon as it is back", async () => {
    const world = await open();
    const [one, cutOff] = world.replicas;
    const { record } = await startTask(one);
    await world.clock.settle();
    const wait = cutOff.engine.waitForTask(record.taskId, mine, { until: "ended", timeoutMs: 60_000 });
    await world.clock.settle();
    cutOff.handle.fail("unavailable");
    world.backend.of().succeed({});
    await world.clock.settle();
    cutOff.handle.reconnect();
    await world.clock.settle();
    expect((await wait).record.state).toBe("succeeded");
  });

  it("is asked of the backend once, whoever asks for it at once: a stop", async () => {
    const world = await open();
    const { record } = await startTask(world.replicas[0]);
    await Promise.all(world.replicas.map(({ engine }) => engine.cancelTask(record.taskId, mine, stop)));
    await world.clock.advance(60_000);
    expect(world.backend.of().cancels).toHaveLength(1);
  });

  it("is asked of the backend once, whoever asks for it at once: an answer", async () => {
    const world = await open();
    const { record } = await startTask(world.replicas[0]);
    world.backend.of().ask();
    await world.clock.settle();
    const key = (await world.record(record.taskId))?.questions[0]?.key as string;
    const answers = world.replicas.map(({ engine }) =>
      attempted(engine.answerTask(record.taskId, mine, { [key]: { action: "accept", content: {} } })),
    );
    await Promise.allSettled(answers);
    await world.clock.advance(60_000);
    expect(world.backend.callsOf("answer")).toHaveLength(1);
  });

  it("is done by one server although all look after what is due", async () => {
    const world = await open();
    world.backend.faults.next("start", { before: "unavailable" });
    await startTask(world.replicas[0]);
    await world.clock.advance(60_000);
    expect(world.backend.callsOf("start")).toHaveLength(2);
    expect(world.backend.executions).toHaveLength(1);
  });
});

describe("a server that was frozen while its start was refused", () => {
  it("takes nothing away from the one that has started the execution meanwhile", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    const [frozen, other] = world.replicas;
    world.backend.faults.next("start", { before: { code: "denied" } });
    const call = attempted(startTask(frozen));
    // Between the refusal, which is written down, and the removal.
    for (let awaits = 0; awaits < 40; awaits++) {
      await Promise.resolve();
      const [record] = (await world.store.list({ operator: true }, {}, undefined, 1)).records;
      if (record !== undefined && record.start.firstSentAt === undefined) break;
    }
    frozen.pause();
    await world.clock.advance(60_000);
    const [record] = (await world.store.list({ operator: true }, {}, undefined, 1)).records;
    expect(record).toMatchObject({ state: "running" });
    frozen.resume();
    await world.clock.settle();
    await expect(call).rejects.toMatchObject({ code: "denied" });
    expect(await other.engine.readTask(record?.taskId, mine)).toMatchObject({ record: { state: "running" } });
  });
});

describe("a store that is away", () => {
  it("refuses a call, and starts nothing", async () => {
    const world = await open();
    const [one] = world.replicas;
    one.handle.fail("unavailable");
    const call = attempted(startTask(one));
    await world.clock.advance(10_000);
    await expect(call).rejects.toMatchObject({ code: "unavailable" });
    one.handle.reconnect();
    await world.clock.advance(120_000);
    expect(world.backend.callsOf("start")).toEqual([]);
  });

  it("does not make a task unknown", async () => {
    const world = await open();
    const [one] = world.replicas;
    const { record } = await startTask(one);
    one.handle.fail("unavailable");
    await expect(one.engine.readTask(record.taskId, mine)).rejects.toMatchObject({ code: "unavailable" });
    one.handle.reconnect();
    expect((await one.engine.readTask(record.taskId, mine)).record.taskId).toBe(record.taskId);
  });

  it("may lose the answer to a create: the repetition finds its record, and one execution is started", async () => {
    const world = await open();
    const [one] = world.replicas;
    one.handle.fail("loses answers");
    const call = startTask(one);
    await world.clock.advance(150);
    one.handle.fail(undefined);
    await world.clock.advance(5_000);
    const { record } = await call;
    expect(await world.record(record.taskId)).toMatchObject({ state: "running" });
    expect(world.backend.executions).toHaveLength(1);
  });

  it("may have lost the answer to a create whose task is gone when it is repeated: it is not created again", async () => {
    const world = await open();
    const [one] = world.replicas;
    one.handle.fail("loses answers");
    const call = attempted(startTask(one));
    await world.clock.settle();
    one.handle.fail(undefined);
    const [created] = (await world.store.list({ operator: true }, {}, undefined, 10)).records;
    if (created === undefined) throw new Error("nothing was created");
    await world.store.remove(created.taskId);
    await world.clock.advance(150);
    await expect(call).rejects.toMatchObject({ code: "not_found" });
    await world.clock.advance(600_000);
    expect(await world.record(created.taskId)).toBeUndefined();
    expect(world.backend.callsOf("start")).toEqual([]);
  });

  it("may have lost the answer to a create of a server that is frozen then: it creates nothing when it wakes", async () => {
    const world = await open();
    const [frozen, two] = world.replicas;
    frozen.handle.fail("loses answers");
    const call = attempted(startTask(frozen));
    await world.clock.settle();
    frozen.handle.fail(undefined);
    frozen.pause();
    const [created] = (await world.store.list({ operator: true }, {}, undefined, 10)).records;
    if (created === undefined) throw new Error("nothing was created");
    // Another takes up its start.
    await world.clock.advance(120_000);
    world.backend.of().succeed({});
    expect((await two.engine.readTask(created.taskId, mine)).record.state).toBe("succeeded");
    await world.store.remove(created.taskId);
    await world.clock.advance(120_000);
    frozen.resume();
    await world.clock.advance(600_000);
    await expect(call).rejects.toMatchObject({ code: "unavailable" });
    expect(await world.record(created.taskId)).toBeUndefined();
    expect(world.backend.executions).toHaveLength(1);
  });

  it("may have taken a call that was refused: it is withdrawn once the store is back, and never starts", async () => {
    const world = await open();
    const [one] = world.replicas;
    one.handle.fail("loses answers");
    const call = attempted(startTask(one));
    await world.clock.advance(4_000);
    await expect(call).rejects.toBeInstanceOf(BridgeError);
    expect((await world.store.list({ operator: true }, {}, undefined, 10)).records).toHaveLength(1);
    // Back for a moment, in which it is found and its removal fails.
    one.handle.fail("refuses writes");
    await world.clock.advance(5_000);
    one.handle.reconnect();
    await world.clock.advance(600_000);
    expect(world.backend.callsOf("start")).toEqual([]);
    expect((await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10)).records).toEqual([]);
  });

  it("keeps those who wait no longer than itself", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    const [one, two] = world.replicas;
    const { record } = await startTask(two);
    await world.clock.settle();
    const wait = one.engine.waitForTask(record.taskId, mine, { until: "ended", timeoutMs: 60_000 });
    await world.clock.settle();
    one.handle.fail("unavailable");
    await world.clock.advance(12_000);
    world.backend.of().succeed({});
    await two.engine.readTask(record.taskId, mine);
    // Back, and without having told what it missed.
    one.handle.fail(undefined);
    const before = world.clock.now();
    let endedAt = 0;
    wait.then(() => {
      endedAt = world.clock.now();
    });
    await world.clock.advance(20_000);
    expect((await wait).record.state).toBe("succeeded");
    expect(endedAt - before).toBeLessThanOrEqual(2_500);
  });

  it("makes no backend look away", async () => {
    let isUnavailable = true;
    const world = createWorld({
      wrapStore: (store) => ({
        ...store,
        values: {
          ...store.values,
          read: async (name) => {
            if (isUnavailable) throw new BridgeError("unavailable", "the store is away");
            return store.values.read(name);
          },
        },
      }),
    });
    const { engine } = await world.boot();
    await world.clock.advance(30_000);
    expect(engine.unavailableAdapters()).toEqual([]);
    expect(subscriptions(world)).toBe(0);
    isUnavailable = false;
    await world.clock.advance(6_000);
    expect(subscriptions(world)).toBe(1);
  });

  it("does not lose a ref that came while it was away", async () => {
    const world = await open({ adapter: { without: ["watch", "find"], traits: { start: { kind: "at-most-once" } } } });
    const [one, two] = world.replicas;
    world.backend.faults.next("start", { answerDelayMs: 5_000 });
    const call = startTask(one);
    await world.clock.advance(2_000);
    const { record } = await call;
    one.handle.fail("unavailable");
    await world.clock.advance(20_000);
    one.handle.reconnect();
    await world.clock.advance(10_000);
    expect((await two.engine.readTask(record.taskId, mine)).record).toMatchObject({ state: "running" });
    expect(world.backend.callsOf("start")).toHaveLength(1);
  });
});
