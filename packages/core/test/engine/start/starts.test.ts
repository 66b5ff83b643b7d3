import { describe, expect, it } from "@jest/globals";
import type { StartPromise } from "../../../src/adapter.ts";
import { attempted, createWorld, finalStop, mine, startTask, stop, type World, type WorldOptions } from "../harness.ts";

const idempotent: StartPromise = { kind: "idempotent", forMs: null };
const findable: StartPromise = { kind: "findable", visibilityDelayMs: 5_000, windowMs: 600_000 };
const atMostOnce: StartPromise = { kind: "at-most-once" };

/** Without news, and without `find` where the promise does not rest on it, so that only the start itself tells. */
const withPromise = (start: StartPromise, more: WorldOptions = {}): WorldOptions => ({
  ...more,
  adapter: {
    traits: { start },
    without: start.kind === "findable" ? ["watch"] : ["watch", "find"],
    findableAfterMs: start.kind === "findable" ? start.visibilityDelayMs : 0,
    ...more.adapter,
  },
});

const open = async (options: WorldOptions) => {
  const world = createWorld(options);
  return { ...world, ...(await world.boot()) };
};

const onlyTask = async (world: World) => {
  const { records } = await world.store.list({ operator: true }, {}, undefined, 10);
  expect(records).toHaveLength(1);
  return records[0] as NonNullable<(typeof records)[0]>;
};

const unknown = { state: "failed", failure: { kind: "protocol", code: "start_unknown" }, slotHeld: false, effects: [] };

describe.each([
  ["its answer is lost", { after: "lost-answer" }],
  ["it hangs after the backend accepted", { after: "hang" }],
] as const)("a start that the backend accepted, but %s (case 25)", (_how, fault) => {
  it.each([
    ["an idempotent backend", idempotent],
    ["an idempotent backend, inside its window", { kind: "idempotent", forMs: 300_000 } as const],
    ["a findable backend", findable],
  ])("runs once on %s, and its ref is saved", async (_what, promise) => {
    const world = await open(withPromise(promise));
    world.backend.faults.next("start", fault);
    const pending = startTask(world);
    await world.clock.advance(60_000);
    await pending;
    expect(world.backend.starts()).toBe(1);
    expect(await onlyTask(world)).toMatchObject({ state: "running", ref: world.backend.of().ref, effects: [] });
  });

  it.each([
    ["an idempotent backend whose window is over", { kind: "idempotent", forMs: 100 } as const],
    ["an at-most-once backend", atMostOnce],
  ])("is never sent again to %s: the task fails with start_unknown", async (_what, promise) => {
    const world = await open(withPromise(promise));
    world.backend.faults.next("start", fault);
    const pending = startTask(world);
    await world.clock.advance(60_000);
    await pending;
    expect(world.backend.callsOf("start")).toHaveLength(1);
    expect(await onlyTask(world)).toMatchObject(unknown);
  });
});

describe("a repeated start", () => {
  const sentBefore = (world: World) =>
    world.backend.callsOf("start").map(({ args }) => (args[0] as { firstSentAt?: number }).firstSentAt);

  it("is told when it was first sent, also by another process after a crash", async () => {
    const world = await open(withPromise(idempotent));
    const firstSentAt = world.clock.now();
    world.backend.faults.next("start", { before: "lost-answer" }, 2);
    attempted(startTask(world));
    await world.clock.advance(600);
    world.kill();
    await world.boot();
    await world.clock.advance(60_000);
    expect(sentBefore(world)).toEqual([undefined, firstSentAt, firstSentAt]);
  });

  it("is not told of sends that certainly have not arrived", async () => {
    const world = await open(withPromise(idempotent));
    world.backend.faults.next("start", { before: { code: "unavailable", notSent: true } }, 2);
    attempted(startTask(world));
    await world.clock.advance(60_000);
    expect(sentBefore(world)).toEqual([undefined, undefined, undefined]);
  });
});

describe("a start that may not have arrived", () => {
  it("is not sent twice to a findable backend that does not have it: start_unknown", async () => {
    const world = await open(withPromise(findable));
    world.backend.faults.next("start", { before: "lost-answer" });
    await startTask(world).catch(() => {});
    await world.clock.advance(4_000);
    expect((await onlyTask(world)).state).toBe("queued");
    await world.clock.advance(10_000);
    expect(await onlyTask(world)).toMatchObject(unknown);
    expect(world.backend.starts()).toBe(0);
  });

  it.each([
    ["at-most-once", atMostOnce],
    ["findable", findable],
  ])("is sent again to %s where the tool accepts at least once, pausing longer each time", async (_what, promise) => {
    const world = await open(withPromise(promise, { task: { onUnknownStart: "restart", startDeadlineMs: 900_000 } }));
    world.backend.faults.next("start", { before: "lost-answer" }, 5);
    const pending = startTask(world);
    await world.clock.advance(899_000);
    await pending;
    expect(world.backend.starts()).toBe(1);
    expect((await onlyTask(world)).ref).toBe(world.backend.of().ref);
    const sentAt = world.backend.callsOf("start").map(({ at }) => at);
    const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] as number));
    expect(pauses.slice(1).every((pause) => pause >= 300)).toBe(true);
    expect(pauses.at(-1)).toBeGreaterThan(5_000);
  });

  it("is never restarted once news by key has told that it runs", async () => {
    const world = await open({
      task: { onUnknownStart: "restart" },
      adapter: { traits: { start: atMostOnce }, without: ["find"], eventsCarry: { ref: false } },
    });
    world.backend.faults.next("start", { after: "lost-answer" });
    await startTask(world);
    await world.clock.advance(60_000);
    expect(world.backend.callsOf("start")).toHaveLength(1);
    world.backend.of().succeed({ done: true });
    await world.clock.settle();
    expect(await onlyTask(world)).toMatchObject({ state: "succeeded" });
  });
});

describe("a start that is refused for now", () => {
  it("is tried again no sooner than Retry-After", async () => {
    const world = await open(withPromise(idempotent));
    world.backend.faults.next("start", { before: { code: "throttled", retryAfterMs: 7_000 } });
    const pending = startTask(world);
    await world.clock.advance(6_999);
    expect(world.backend.callsOf("start")).toHaveLength(1);
    await world.clock.advance(1_000);
    await pending;
    expect(await onlyTask(world)).toMatchObject({ state: "running", ref: world.backend.of().ref });
  });

  it.each([
    ["idempotent", idempotent],
    ["findable", findable],
    ["at-most-once", atMostOnce],
  ])("is tried again on %s when it was certainly not sent", async (_what, promise) => {
    const world = await open(withPromise(promise));
    world.backend.faults.next("start", { before: { code: "unavailable", notSent: true } }, 3);
    await startTask(world);
    await world.clock.advance(20_000);
    expect(await onlyTask(world)).toMatchObject({ state: "running", ref: world.backend.of().ref });
    expect(world.backend.starts()).toBe(1);
  });

  it("is known not to have arrived also while it is tried again, until that is in doubt", async () => {
    const world = await open(withPromise(findable));
    world.backend.faults.next("start", { before: { code: "unavailable", notSent: true } });
    world.backend.faults.next("start", { before: "hang" });
    attempted(startTask(world));
    await world.clock.advance(2_000);
    const trying = await onlyTask(world);
    expect(trying.start.firstSentAt).toBeDefined();
    expect(trying.effects).toMatchObject([{ kind: "start", attempts: 2, nothingSent: true }]);
    world.backend.faults.always("find", { before: "unavailable" });
    await world.clock.advance(40_000);
    const [doubted] = (await onlyTask(world)).effects;
    expect(doubted).toMatchObject({ kind: "start", lastError: expect.any(String) });
    expect(doubted).not.toHaveProperty("nothingSent");
  });

  it("is tried again within seconds also after many failures, since somebody waits for it", async () => {
    const world = await open(withPromise(idempotent));
    world.backend.faults.always("start", { before: { code: "unavailable", notSent: true } });
    await startTask(world);
    await world.clock.advance(200_000);
    world.backend.faults.clear();
    await world.clock.advance(16_000);
    expect(await onlyTask(world)).toMatchObject({ state: "running", ref: world.backend.of().ref });
  });

  it("fails the task with start_deadline when it was never accepted in time", async () => {
    const world = await open(withPromise(atMostOnce, { task: { startDeadlineMs: 30_000 } }));
    world.backend.faults.always("start", { before: { code: "throttled", notSent: true } });
    await startTask(world);
    await world.clock.advance(30_000);
    expect(await onlyTask(world)).toMatchObject({
      state: "failed",
      failure: { code: "start_deadline" },
      slotHeld: false,
    });
    world.backend.faults.clear();
    await world.clock.advance(60_000);
    expect(world.backend.starts()).toBe(0);
  });

  it("ends the wait at the deadline while it cannot be found out, and stops what turns up later", async () => {
    const world = await open(withPromise(findable, { task: { startDeadlineMs: 30_000 } }));
    world.backend.faults.next("start", { after: "lost-answer" });
    world.backend.faults.always("find", { before: "unavailable" });
    await startTask(world);
    await world.clock.advance(60_000);
    expect(await onlyTask(world)).toMatchObject({
      state: "failed",
      failure: { code: "start_unknown" },
      slotHeld: true,
    });
    world.backend.faults.clear();
    await world.clock.advance(600_000);
    expect(world.backend.of().snapshot.status).toBe("cancelled");
    expect(await onlyTask(world)).toMatchObject({ state: "failed", slotHeld: false, effects: [] });
  });
});

describe("a start that is refused when it is sent again", () => {
  const denied = { before: { code: "denied", message: "the policy was changed" } } as const;
  const withFind = (more: WorldOptions = {}): WorldOptions =>
    withPromise(idempotent, { ...more, adapter: { without: ["watch"], ...more.adapter } });

  it("says nothing of an earlier send: what that has started is looked for, and is the task's", async () => {
    const world = await open(withFind({ adapter: { findableAfterMs: 8_000 } }));
    world.backend.faults.next("start", { after: "lost-answer" });
    world.backend.faults.always("start", denied);
    await startTask(world);
    await world.clock.advance(7_000);
    expect(world.backend.callsOf("start")).toHaveLength(2);
    expect(await onlyTask(world)).toMatchObject({ state: "queued" });
    await world.clock.advance(20_000);
    expect(await onlyTask(world)).toMatchObject({ ref: world.backend.of().ref, effects: [] });
    expect(world.backend.callsOf("start")).toHaveLength(2);
    expect(world.audited("start_adopted")).toHaveLength(1);
    world.backend.of().succeed({});
    await world.clock.advance(60_000);
    expect(await onlyTask(world)).toMatchObject({ state: "succeeded" });
  });

  it("fails the task once nothing is found for as long as a send may take, saying why", async () => {
    const world = await open(withFind());
    world.backend.faults.next("start", { before: "lost-answer" });
    world.backend.faults.always("start", denied);
    await startTask(world);
    await world.clock.advance(29_000);
    expect(await onlyTask(world)).toMatchObject({ state: "queued" });
    await world.clock.advance(10_000);
    expect(await onlyTask(world)).toMatchObject(unknown);
    expect((await onlyTask(world)).failure?.reason).toMatch(/policy was changed; what was sent before is not found/);
    expect(world.backend.callsOf("start")).toHaveLength(2);
  });

  it("fails the task at its deadline where nobody can look, and stops what turns up later", async () => {
    const world = await open(withFind({ task: { startDeadlineMs: 60_000 } }));
    world.backend.faults.next("start", { after: "lost-answer" });
    world.backend.faults.always("start", denied);
    world.backend.faults.always("find", denied);
    await startTask(world);
    await world.clock.advance(40_000);
    expect(await onlyTask(world)).toMatchObject({ state: "queued" });
    expect(world.audited("effect_failed")[0]).toMatchObject({
      message: expect.stringContaining("the policy was changed"),
      fields: { effect: "find" },
    });
    await world.clock.advance(30_000);
    expect(await onlyTask(world)).toMatchObject({ ...unknown, slotHeld: true, effects: [{ kind: "start" }] });
    world.backend.faults.clear();
    await world.clock.advance(600_000);
    expect(world.backend.of().cancels).toHaveLength(1);
    expect(await onlyTask(world)).toMatchObject(unknown);
  });

  it("goes on being looked for by another process", async () => {
    const world = await open(withFind());
    world.backend.faults.next("start", { after: "lost-answer" });
    world.backend.faults.always("start", denied);
    world.backend.faults.next("find", { before: "hang" });
    await startTask(world);
    await world.clock.advance(5_000);
    world.kill();
    await world.boot();
    await world.clock.advance(60_000);
    expect(await onlyTask(world)).toMatchObject({ state: "queued", ref: world.backend.of().ref, effects: [] });
    expect(world.backend.callsOf("start")).toHaveLength(2);
  });

  it("is not looked for where its key is something else's", async () => {
    const world = await open(withFind());
    world.backend.faults.next("start", { before: "lost-answer" });
    world.backend.faults.always("start", { before: "conflict" });
    await startTask(world);
    await world.clock.advance(60_000);
    expect(await onlyTask(world)).toMatchObject({ ...unknown, failure: { code: "start_refused" } });
    expect(world.backend.callsOf("find")).toEqual([]);
  });

  it("is looked for before the deadline fails it, too", async () => {
    const world = await open(withFind({ task: { startDeadlineMs: 30_000 } }));
    world.backend.faults.next("start", { after: "lost-answer" });
    world.backend.faults.always("start", { before: "unavailable" });
    await startTask(world);
    await world.clock.advance(40_000);
    expect(await onlyTask(world)).toMatchObject({ state: "queued", ref: world.backend.of().ref, effects: [] });
    expect(world.backend.of().cancels).toEqual([]);
  });
});

describe("a ref that comes when nobody wants the execution any more", () => {
  it.each([
    ["asked to stop", async ({ engine }, id) => void (await engine.cancelTask(id, mine, stop))],
    ["cancelled at once", async ({ engine }, id) => void (await engine.cancelTask(id, mine, finalStop))],
    ["deleted", async ({ engine }, id) => engine.deleteTask(id, mine)],
    ["failed by maxRunMs", async ({ clock }) => clock.advance(8_000)],
    [
      "expired",
      async ({ engine, clock }, id) => {
        await engine.cancelTask(id, mine, finalStop);
        await clock.advance(3_000);
      },
    ],
  ] as readonly (readonly [string, (world: Awaited<ReturnType<typeof open>>, id: string) => Promise<void>])[])(
    "leads to a stop: the task was %s",
    async (_what, end) => {
      const world = await open(withPromise(idempotent, { task: { maxRunMs: 9_000, retentionMs: 2_000 } }));
      world.backend.faults.next("start", { answerDelayMs: 15_000 });
      const pending = startTask(world);
      await world.clock.advance(2_000);
      const { record } = await pending;
      await end(world, record.taskId);
      await world.clock.advance(120_000);
      expect(world.backend.starts()).toBe(1);
      expect(world.backend.of().snapshot.status).toBe("cancelled");
      expect(await world.record(record.taskId)).toBeUndefined();
    },
  );

  it("leads to a stop when the start had been given up as unknown", async () => {
    const world = await open(withPromise(atMostOnce));
    world.backend.faults.next("start", { after: "lost-answer" });
    const { record } = await startTask(world);
    await world.clock.advance(1_000);
    const { key, ref, snapshot } = world.backend.of();
    await world.engine.receive("fake", world.backend.webhook([{ key, ref, snapshot }]));
    await world.clock.advance(5_000);
    expect(world.backend.of().snapshot.status).toBe("cancelled");
    expect(await world.record(record.taskId)).toMatchObject({ state: "failed", slotHeld: false, effects: [] });
  });
});

describe("news that overtakes the answer to the start", () => {
  it("gives the task its ref, and the older answer takes nothing back", async () => {
    const world = await open({ adapter: { startsAs: "queued" } });
    world.backend.faults.next("start", { answerDelayMs: 5_000 });
    const pending = startTask(world);
    await world.clock.settle();
    world.backend.of().progress({ done: 3, total: 4 });
    await world.clock.advance(2_000);
    const { record } = await pending;
    expect(record).toMatchObject({
      state: "running",
      ref: world.backend.of().ref,
      execution: { progress: { done: 3 } },
    });
    await world.clock.advance(10_000);
    expect(await onlyTask(world)).toMatchObject({
      state: "running",
      execution: { progress: { done: 3 } },
      effects: [],
    });
    expect(world.backend.callsOf("start")).toHaveLength(1);
  });

  it("may even tell the end, which the answer then leaves as it is (case 29)", async () => {
    const world = await open({ adapter: { onStart: (execution) => execution.succeed({ quick: true }) } });
    world.backend.faults.next("start", { answerDelayMs: 1_000 });
    const pending = attempted(startTask(world));
    await world.clock.advance(5_000);
    const { record } = await pending;
    expect(await world.record(record.taskId)).toMatchObject({ state: "succeeded", slotHeld: false });
    expect(world.backend.callsOf("cancel")).toEqual([]);
  });
});
