import { describe, expect, it } from "@jest/globals";
import { createWorld, finalStop, mine, startTask, stop, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  const { record } = await startTask(process);
  return { ...world, ...process, taskId: record.taskId };
};

const requested: WorldOptions = { adapter: { traits: { cancel: "requested" } } };

describe("a stop", () => {
  it("is sent once however many clients ask for it, and the execution really stops (case 11)", async () => {
    const world = await open();
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        world.engine.cancelTask(world.taskId, mine, { reason: `client ${index}`, isFinal: index % 2 === 1 }),
      ),
    );
    await world.clock.advance(60_000);
    expect(answers).toHaveLength(5);
    expect(world.backend.callsOf("cancel")).toHaveLength(1);
    expect(world.backend.of().snapshot.status).toBe("cancelled");
    expect(await world.record(world.taskId)).toMatchObject({ state: "cancelled", slotHeld: false, effects: [] });
  });

  it("is sent once although two processes are asked at the same moment", async () => {
    const world = await open(requested);
    const other = await world.boot();
    await Promise.all([
      world.engine.cancelTask(world.taskId, mine, stop),
      other.engine.cancelTask(world.taskId, mine, finalStop),
    ]);
    await world.clock.advance(60_000);
    expect(world.backend.callsOf("cancel")).toHaveLength(1);
    expect(await world.record(world.taskId)).toMatchObject({ state: "cancelled", cancel: { isFinal: true } });
  });

  it.each([["lost-answer"], ["hang"]] as const)(
    "is repeated when its outcome is unknown (%s), until confirmed",
    async (after) => {
      const world = await open(requested);
      world.backend.faults.next("cancel", { after });
      await world.engine.cancelTask(world.taskId, mine, stop);
      await world.clock.advance(60_000);
      expect(world.backend.callsOf("cancel")).toHaveLength(2);
      expect(await world.record(world.taskId)).toMatchObject({
        effects: [],
        cancel: { deliveredAt: expect.any(Number) },
      });
    },
  );

  it("is retried with growing pauses while the backend is unavailable, and not before Retry-After", async () => {
    const world = await open(requested);
    world.backend.faults.next("cancel", { before: "unavailable" }, 6);
    world.backend.faults.next("cancel", { before: { code: "throttled", retryAfterMs: 90_000 } });
    await world.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.advance(300_000);
    const sentAt = world.backend.callsOf("cancel").map(({ at }) => at);
    const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] as number));
    expect(pauses).toHaveLength(7);
    for (const [index, pause] of pauses.slice(0, 6).entries()) {
      expect(pause).toBeGreaterThanOrEqual(250 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(500 * 2 ** index);
    }
    expect(pauses[6]).toBeGreaterThanOrEqual(90_000);
    expect(await world.record(world.taskId)).toMatchObject({ effects: [] });
  });

  it("that the backend refuses for good is dropped, and the task says why while it goes on", async () => {
    const world = await open(requested);
    world.backend.faults.next("cancel", { before: { code: "denied", message: "no permission to stop" } });
    await world.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.advance(60_000);
    expect(world.backend.callsOf("cancel")).toHaveLength(1);
    expect(await world.record(world.taskId)).toMatchObject({
      state: "running",
      message: expect.stringContaining("no permission to stop"),
      effects: [],
    });
    expect(world.audited("effect_dropped")).toMatchObject([
      { message: expect.stringContaining("no permission to stop") },
    ]);
    world.backend.of().succeed({});
    await world.clock.settle();
    expect((await world.record(world.taskId))?.state).toBe("succeeded");
  });

  it("that the backend cannot do is said to be so", async () => {
    const world = await open({ adapter: { traits: { cancel: "none" }, without: ["cancel"] } });
    await world.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.settle();
    expect(await world.record(world.taskId)).toMatchObject({
      state: "running",
      message: expect.stringContaining("cannot stop"),
      effects: [],
    });
  });

  it("goes on being sent after the task has ended, and keeps the slot until the execution ended", async () => {
    const world = await open(requested);
    world.backend.faults.next("cancel", { before: "unavailable" }, 3);
    const { record } = await world.engine.cancelTask(world.taskId, mine, finalStop);
    expect(record).toMatchObject({ state: "cancelled", slotHeld: true, effects: [{ kind: "cancel" }] });
    await world.clock.advance(30_000);
    expect(world.backend.callsOf("cancel")).toHaveLength(4);
    expect(await world.record(world.taskId)).toMatchObject({ state: "cancelled", slotHeld: true, effects: [] });
    world.backend.of().stop();
    await world.clock.advance(1_000);
    expect(await world.record(world.taskId)).toMatchObject({ state: "cancelled", slotHeld: false });
  });

  it("is not sent to an execution that has ended already", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    world.backend.faults.next("cancel", { before: "unavailable" });
    await world.engine.cancelTask(world.taskId, mine, stop);
    world.backend.of().succeed({ made: "it" });
    await world.engine.readTask(world.taskId, mine);
    await world.clock.advance(60_000);
    expect(world.backend.callsOf("cancel")).toHaveLength(1);
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded", effects: [] });
  });

  it("before the start was ever sent starts nothing and gives the slot back at once", async () => {
    const world = createWorld({ adapter: { without: ["watch"] } });
    const { engine } = await world.boot();
    world.backend.faults.always("start", { before: { code: "unavailable", notSent: true } });
    const { record } = await startTask({ engine });
    expect((await engine.cancelTask(record.taskId, mine, stop)).record).toMatchObject({
      state: "cancelled",
      slotHeld: false,
      effects: [],
    });
    world.backend.faults.clear();
    await world.clock.advance(60_000);
    expect(world.backend.starts()).toBe(0);
  });
});

describe("an answer", () => {
  it("whose outcome is unknown is delivered again under the same answerId, as attempt 2, and counts once", async () => {
    const world = await open();
    world.backend.of().ask();
    await world.clock.settle();
    world.backend.faults.next("answer", { after: "lost-answer" });
    await world.engine.answerTask(world.taskId, mine, { q2: { action: "accept", content: 7 } });
    await world.clock.advance(10_000);
    const sent = world.backend.callsOf("answer").map(({ args }) => args[1] as { answerId: string; attempt: number });
    expect(sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(sent.map(({ answerId }) => answerId)).size).toBe(1);
    expect(world.backend.of().answers).toMatchObject([{ content: 7, deliveries: 2 }]);
    expect(await world.record(world.taskId)).toMatchObject({ effects: [], questions: [{ state: "closed" }] });
  });

  it("is not sent twice when it is given twice", async () => {
    const world = await open();
    world.backend.of().ask();
    await world.clock.settle();
    const reports = await Promise.all(
      [1, 2].map((content) => world.engine.answerTask(world.taskId, mine, { q2: { action: "accept", content } })),
    );
    await world.clock.advance(10_000);
    expect(reports.map(({ accepted, ignored }) => [accepted, ignored])).toEqual([
      [["q2"], []],
      [[], ["q2"]],
    ]);
    expect(world.backend.of().answers).toMatchObject([{ content: 1, deliveries: 1 }]);
  });
});

describe("a heartbeat", () => {
  it("is sent three times within what the question demands, until it is closed", async () => {
    const world = await open();
    world.backend.of().ask({ heartbeatMs: 9_000 });
    await world.clock.advance(30_000);
    const execution = world.backend.of();
    expect(execution.snapshot.status).toBe("waiting");
    expect(execution.beats.length).toBe(10);
    await world.engine.answerTask(world.taskId, mine, { q2: { action: "decline" } });
    await world.clock.advance(30_000);
    expect(execution.beats.length).toBe(10);
    expect(await world.record(world.taskId)).toMatchObject({ effects: [] });
  });

  it("survives failures of single calls and a crash in the middle of one", async () => {
    const world = await open();
    world.backend.of().ask({ heartbeatMs: 9_000 });
    world.backend.faults.next("heartbeat", { before: "unavailable" });
    await world.clock.advance(5_000);
    expect(world.backend.of().beats).toHaveLength(1);
    world.backend.faults.next("heartbeat", { before: "hang" });
    await world.clock.advance(2_100);
    world.kill();
    await world.boot();
    await world.clock.advance(60_000);
    expect(world.backend.of().snapshot.status).toBe("waiting");
  });

  it("ends when the backend says that the question is closed", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    world.backend.of().ask({ heartbeatMs: 9_000 });
    await world.engine.readTask(world.taskId, mine);
    world.backend.of().withdraw();
    await world.clock.advance(20_000);
    expect(world.backend.callsOf("heartbeat")).toHaveLength(1);
    expect(await world.record(world.taskId)).toMatchObject({
      state: "running",
      effects: [],
      questions: [{ state: "withdrawn" }],
    });
  });
});

describe("forgetting", () => {
  it("is told to the backend when the task is purged, retried, and the record goes with it", async () => {
    const world = await open({ task: { retentionMs: 1_000 } });
    world.backend.of().succeed({});
    await world.clock.settle();
    world.backend.faults.next("forget", { before: "unavailable" });
    await world.clock.advance(1_000);
    expect(await world.record(world.taskId)).toMatchObject({ expired: true });
    await world.clock.advance(5_000);
    expect(world.backend.of().forgotten).toBe(true);
    expect(await world.record(world.taskId)).toBeUndefined();
  });

  it("does not keep the record for ever when the backend refuses", async () => {
    const world = await open({ task: { retentionMs: 1_000 } });
    world.backend.of().succeed({});
    world.backend.faults.always("forget", { before: "unavailable" });
    await world.clock.advance(3_600_000);
    expect(await world.record(world.taskId)).toBeUndefined();
    expect(world.audited("effect_dropped")).toHaveLength(1);
  });
});
