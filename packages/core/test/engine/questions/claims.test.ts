import { describe, expect, it } from "@jest/globals";
import { asOwnerId, type ClaimOutcome } from "../../../src/index.ts";
import type { TaskStore } from "../../../src/store.ts";
import { createWorld, mine, type Process, startTask, stop, type WorldOptions } from "../harness.ts";

const tenSeconds = 10_000;

/** Two processes, and a task that asks one question. */
const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const [first, second] = [await world.boot(), await world.boot()];
  const { taskId } = (await startTask(first)).record;
  const asked = world.backend.of().ask({ message: "Deploy?" });
  await world.clock.settle();
  const saved = async () => {
    await world.clock.settle();
    const found = await world.record(taskId);
    if (found === undefined) throw new Error("no record");
    return found;
  };
  const openKeys = async (): Promise<readonly string[]> =>
    (await saved()).questions.filter(({ state }) => state === "open").map((question) => question.key);
  const key = String((await openKeys())[0]);
  const claim = (process: Process, by: string, forMs = tenSeconds, which = key): Promise<ClaimOutcome> =>
    process.engine.claimQuestion(taskId, mine, which, { by, forMs });
  const release = (process: Process, by: string): Promise<void> =>
    process.engine.releaseQuestion(taskId, mine, key, by);
  const claimNow = async () => (await saved()).questions.find((question) => question.key === key)?.claim;
  return { ...world, first, second, taskId, key, asked, saved, openKeys, claim, release, claimNow };
};

const heldBy = (by: string) => ({
  outcome: "held",
  question: expect.objectContaining({ claim: expect.objectContaining({ by }) }),
});
const closed = { outcome: "closed" };

describe("a claim of an open question", () => {
  it("is given to one of many who claim at once, in any process", async () => {
    let conflicts = 0;
    const wrapStore = (store: TaskStore): TaskStore => ({
      ...store,
      revise: (...given) =>
        store.revise(...given).catch((error: unknown) => {
          conflicts++;
          throw error;
        }),
    });
    const world = await open({ wrapStore });
    const names = ["a1", "a2", "b1", "b2"];
    const outcomes = await Promise.all(
      names.map((by) => world.claim(by.startsWith("a") ? world.first : world.second, by)),
    );
    const until = world.clock.now() + tenSeconds;
    expect(outcomes.filter(({ outcome }) => outcome === "held")).toHaveLength(1);
    expect(outcomes.filter(({ outcome }) => outcome === "taken")).toEqual(Array(3).fill({ outcome: "taken", until }));
    const winner = names[outcomes.findIndex(({ outcome }) => outcome === "held")];
    expect(await world.claimNow()).toEqual({ by: winner, until });
    // They all had read the question unclaimed.
    expect(conflicts).toBeGreaterThanOrEqual(3);
  });

  it("resolves with the question as it is then held", async () => {
    const world = await open();
    const outcome = await world.claim(world.first, "a");
    const [question] = (await world.saved()).questions;
    expect(outcome).toEqual({ outcome: "held", question });
    expect(question).toMatchObject({ message: "Deploy?", claim: { by: "a", until: world.clock.now() + tenSeconds } });
  });

  it("lapses by the store's clock, and is then anyone's, also to its former holder's cost", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    const until = world.clock.now() + tenSeconds;
    await world.clock.advance(tenSeconds - 1);
    expect(await world.claim(world.second, "b")).toEqual({ outcome: "taken", until });
    await world.clock.advance(1);
    expect(await world.claim(world.second, "b")).toMatchObject(heldBy("b"));
    expect(await world.claim(world.first, "a")).toEqual({ outcome: "taken", until: until + tenSeconds });
  });

  it("lapses when the store's clock is set back so far that it would last longer than any", async () => {
    let setBackMs = 0;
    const wrapStore = (store: TaskStore): TaskStore => ({ ...store, now: () => store.now() - setBackMs });
    const world = await open({ wrapStore });
    const minute = 60_000;
    await world.claim(world.first, "a", minute);
    const now = world.clock.now();
    setBackMs = 1;
    expect(await world.claim(world.second, "b", minute)).toMatchObject(heldBy("b"));
    expect(await world.claim(world.first, "a", minute)).toEqual({ outcome: "taken", until: now - 1 + minute });
    // Whoever is alive holds it by the new time at the next turn.
    setBackMs = 3_600_000;
    await world.claim(world.second, "b", minute);
    expect(await world.claimNow()).toEqual({ by: "b", until: now - setBackMs + minute });
    expect(await world.claim(world.first, "a", minute)).toMatchObject({ outcome: "taken" });
  });

  it("is extended by its holder from any process, and not shortened", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    await world.clock.advance(8_000);
    expect(await world.claim(world.second, "a")).toMatchObject(heldBy("a"));
    const until = world.clock.now() + tenSeconds;
    expect(await world.claimNow()).toEqual({ by: "a", until });
    await world.clock.advance(8_000);
    expect(await world.claim(world.second, "b")).toEqual({ outcome: "taken", until });
    const { revision } = await world.saved();
    expect(await world.claim(world.first, "a", 1)).toMatchObject({ question: { claim: { by: "a", until } } });
    expect((await world.saved()).revision).toBe(revision);
  });

  it.each([
    ["at once in its process", "first", 0],
    ["in another process with its next read, where the store tells of no changes", "second", 1_000],
  ] as const)("that is released wakes who waits to ask: %s", async (_when, where, afterMs) => {
    const world = await open({ task: { pollIntervalMs: 1_000 } });
    await world.claim(world.first, "a", 60_000);
    const { revision } = await world.saved();
    const { engine } = world[where];
    const change = engine.waitForTask(world.taskId, mine, { until: "changed", revision, timeoutMs: 60_000 });
    const received: ClaimOutcome[] = [];
    await engine.followTask(world.taskId, mine, ({ record }) => {
      if (record.questions[0]?.claim === undefined)
        void world.claim(world[where], "b").then((outcome) => received.push(outcome));
    });
    await world.clock.advance(4_500);
    expect(received).toEqual([]);
    await world.release(world.first, "a");
    await world.clock.advance(afterMs);
    expect(received).toEqual([heldBy("b")]);
    expect((await change).record.revision).toBeGreaterThan(revision);
  });

  it("is not released by anyone else", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    const before = await world.saved();
    await world.release(world.second, "b");
    await world.second.engine.releaseQuestion(world.taskId, mine, "q99", "a");
    await world.second.engine.releaseQuestion(world.taskId, { owner: null }, world.key, "a");
    expect(await world.saved()).toEqual(before);
    await world.claim(world.second, "b", 1);
    await world.clock.advance(tenSeconds);
    await world.claim(world.second, "b");
    await world.release(world.first, "a");
    expect(await world.claimNow()).toMatchObject({ by: "b" });
  });

  it("is nothing for who may not see the task, who changes nothing", async () => {
    const world = await open();
    const before = await world.saved();
    for (const access of [{ owner: null }, { owner: asOwnerId("other") }])
      await expect(
        world.first.engine.claimQuestion(world.taskId, access, world.key, { by: "a", forMs: 1 }),
      ).rejects.toMatchObject({ code: "not_found", message: "Task not found" });
    expect(await world.saved()).toEqual(before);
  });

  it("outlives its process, until it lapses", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    const until = world.clock.now() + tenSeconds;
    world.first.kill();
    world.second.kill();
    const third = await world.boot();
    expect(await world.claim(third, "c")).toEqual({ outcome: "taken", until });
    await world.clock.advance(tenSeconds);
    expect(await world.claim(third, "c")).toMatchObject(heldBy("c"));
  });

  it("stays while looks and news go on, and another question is asked", async () => {
    const world = await open();
    await world.claim(world.first, "a", 60_000);
    const claim = await world.claimNow();
    world.backend.of().progress({ done: 1, total: 2 });
    world.backend.of().ask({ name: "other" });
    await world.clock.advance(59_000);
    expect(await world.saved()).toMatchObject({
      execution: { progress: { done: 1 } },
      questions: [{ claim }, { message: "other?" }],
    });
    const [, other] = await world.openKeys();
    expect(await world.claim(world.second, "b", tenSeconds, other)).toMatchObject(heldBy("b"));
  });

  it("shows nowhere: nothing but the revision and the claim itself changes, and nothing is audited", async () => {
    const world = await open();
    const before = await world.first.engine.readTask(world.taskId, mine);
    const reported = world.audit.length;
    await world.clock.advance(10);
    const calm = await world.first.engine.readTask(world.taskId, mine);
    await world.claim(world.first, "a");
    const during = await world.first.engine.readTask(world.taskId, mine);
    const { claim: _claim, ...unclaimed } = during.record.questions[0] ?? {};
    expect({ ...during, record: { ...during.record, questions: [unclaimed] } }).toEqual({
      ...calm,
      record: { ...calm.record, revision: calm.record.revision + 1 },
    });
    expect(during.record.updatedAt).toBe(before.record.updatedAt);
    await world.release(world.first, "a");
    const after = await world.first.engine.readTask(world.taskId, mine);
    expect(after).toEqual({ ...calm, record: { ...calm.record, revision: calm.record.revision + 2 } });
    expect(world.audit).toHaveLength(reported);
  });

  it("keeps members of the question that this version does not know", async () => {
    const world = await open();
    const before = await world.saved();
    const questions = before.questions.map((question) => ({ ...question, future: { of: "another version" } }));
    await world.store.revise({ ...before, questions }, before.revision, { durable: true });
    await world.claim(world.first, "a");
    expect(await world.saved()).toMatchObject({ questions: [{ future: { of: "another version" }, claim: {} }] });
    await world.release(world.first, "a");
    expect((await world.saved()).questions).toEqual(questions);
  });

  it.each([
    ["by", { by: "", forMs: 1 }],
    ["by", { by: "x".repeat(65), forMs: 1 }],
    ["by", { by: "two words", forMs: 1 }],
    ["by", { by: 'a"b', forMs: 1 }],
    ["by", { by: "a\\b", forMs: 1 }],
    ["by", { by: "ü", forMs: 1 }],
    ["by", { by: "x\n", forMs: 1 }],
    ["by", { by: undefined as unknown as string, forMs: 1 }],
    ["forMs", { by: "a", forMs: 0 }],
    ["forMs", { by: "a", forMs: 1.5 }],
    ["forMs", { by: "a", forMs: Number.POSITIVE_INFINITY }],
    ["forMs", { by: "a", forMs: 60_001 }],
  ])("is refused with the member that is wrong: %s of %j", async (path, claim) => {
    const world = await open();
    const before = await world.saved();
    const refused = world.first.engine.claimQuestion(world.taskId, mine, world.key, claim);
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", data: { path } });
    expect(await world.saved()).toEqual(before);
  });

  it("fits beside twenty questions at their largest, all claimed under the longest names", async () => {
    const world = await open();
    const message = "m".repeat(6_000 / 20 - 25);
    for (let count = 1; count < 20; count++) world.backend.of().ask({ name: `question ${count}`, message });
    const keys = await world.openKeys();
    expect(keys).toHaveLength(20);
    for (const [index, key] of keys.entries()) {
      const by = `${index}`.padEnd(64, "~");
      expect(await world.claim(world.first, by, 60_000, key)).toMatchObject(heldBy(by));
    }
    const { questions, ...rest } = await world.saved();
    expect(questions.map(({ claim }) => claim?.by.length)).toEqual(Array(20).fill(64));
    const bytes = Buffer.byteLength(JSON.stringify({ ...rest, questions }));
    const unclaimed = questions.map(({ claim: _claim, ...question }) => question);
    const claims = bytes - Buffer.byteLength(JSON.stringify({ ...rest, questions: unclaimed }));
    expect(claims).toBeLessThanOrEqual(20 * 110);
    expect(bytes).toBeLessThanOrEqual(16_384);
    // What may be shown is not reckoned with claims.
    await world.first.engine.answerTask(world.taskId, mine, { [String(keys[1])]: { action: "decline" } });
    world.backend.of().ask({ name: "one more", message });
    expect(await world.openKeys()).toHaveLength(20);
  });
});

describe("a question that is closed", () => {
  it("by an answer, which anyone may give while another holds it, has no claim and gets none", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    const report = await world.second.engine.answerTask(world.taskId, mine, {
      [world.key]: { action: "accept", content: { ok: true } },
    });
    expect(report.accepted).toEqual([world.key]);
    expect((await world.record(world.taskId))?.questions).toMatchObject([{ state: "answered" }]);
    expect((await world.record(world.taskId))?.questions[0]).not.toHaveProperty("claim");
    expect(await world.claim(world.first, "a")).toEqual(closed);
    await world.saved();
    expect(world.backend.of().answers).toMatchObject([{ content: { ok: true } }]);
    expect(await world.claim(world.first, "a")).toEqual(closed);
    const before = await world.saved();
    expect(before.questions[0]).not.toHaveProperty("claim");
    await world.release(world.first, "a");
    expect(await world.saved()).toEqual(before);
  });

  it("by a dismissal is asked again unclaimed, under a key that anyone may claim", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    await world.first.engine.answerTask(world.taskId, mine, { [world.key]: { action: "cancel" } });
    const [again] = await world.openKeys();
    expect(again).not.toBe(world.key);
    expect(JSON.stringify((await world.saved()).questions)).not.toContain("claim");
    expect(await world.claim(world.first, "a")).toEqual(closed);
    expect(await world.claim(world.second, "b", tenSeconds, again)).toMatchObject(heldBy("b"));
  });

  it("by the backend, which withdraws it, has no claim and gets none", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    await world.clock.advance(10);
    world.backend.of().withdraw();
    await world.clock.advance(2_000);
    expect(await world.saved()).toMatchObject({ state: "running", questions: [{ state: "withdrawn" }] });
    expect(await world.claimNow()).toBeUndefined();
    expect(await world.claim(world.second, "b")).toEqual(closed);
  });

  it("with its task, has no claim and gets none", async () => {
    const world = await open();
    await world.claim(world.first, "a");
    await world.first.engine.cancelTask(world.taskId, mine, stop);
    expect(await world.claimNow()).toBeUndefined();
    expect(await world.claim(world.second, "b")).toEqual(closed);
    await world.clock.advance(5_000);
    expect((await world.saved()).state).toBe("cancelled");
    expect(await world.claim(world.second, "b")).toEqual(closed);
  });

  it("because it never was, gets no claim", async () => {
    const world = await open();
    expect(await world.claim(world.first, "a", tenSeconds, "q99")).toEqual(closed);
    expect(await world.claim(world.first, "a", tenSeconds, "__proto__")).toEqual(closed);
  });
});

describe("giving back a claim of a task that is gone", () => {
  it("is no error", async () => {
    const world = await open({ task: { retentionMs: 1_000 } });
    await world.claim(world.first, "a");
    world.backend.faults.always("forget", { before: "unavailable" });
    world.backend.of().succeed({});
    await world.clock.advance(1_500);
    await expect(world.claim(world.first, "a")).rejects.toMatchObject({ data: { expired: true } });
    await expect(world.release(world.first, "a")).resolves.toBeUndefined();
    for (const id of ["unknown", "../..", undefined])
      await expect(world.first.engine.releaseQuestion(id, mine, world.key, "a")).resolves.toBeUndefined();
  });

  it("hides no other error", async () => {
    let isDown = false;
    const wrapStore = (store: TaskStore): TaskStore => ({
      ...store,
      revise: (...given) => (isDown ? Promise.reject(new Error("disk full")) : store.revise(...given)),
    });
    const world = await open({ wrapStore });
    await world.claim(world.first, "a");
    isDown = true;
    await expect(world.release(world.first, "a")).rejects.toThrow("disk full");
    await expect(world.claim(world.first, "a", 60_000)).rejects.toThrow("disk full");
  });
});
