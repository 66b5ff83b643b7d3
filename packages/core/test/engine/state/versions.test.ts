import { describe, expect, it } from "@jest/globals";
import type { TaskRecord } from "../../../src/index.ts";
import type { Effect } from "../../../src/store.ts";
import { createWorld, mine, startTask, stop } from "../harness.ts";

/** What a later version might have written, at every level of a record. */
const withLater = (record: TaskRecord): TaskRecord =>
  ({
    ...record,
    later: { kept: [1, 2.5, "x"] },
    policy: { ...record.policy, later: true },
    start: { ...record.start, later: "s" },
    questions: record.questions.map((question) => ({ ...question, later: { of: question.key } })),
    effects: [
      ...record.effects,
      { kind: "announce", id: "e900", attempts: 0, notBefore: 0, later: 1 } as unknown as Effect,
    ],
    minted: 900,
    wakeAt: 0,
  }) as TaskRecord;

describe("a record that a later version has written", () => {
  const open = async () => {
    const world = createWorld({ replicas: true });
    const process = await world.boot();
    const { record } = await startTask(process);
    world.backend.of().ask();
    await world.clock.settle();
    const asked = (await world.record(record.taskId)) as TaskRecord;
    await world.store.revise(withLater(asked), asked.revision);
    return { ...world, process, taskId: record.taskId, key: asked.questions[0]?.key as string };
  };

  it("keeps what this version does not know, through an answer, progress and the end", async () => {
    const world = await open();
    await world.process.engine.answerTask(world.taskId, mine, { [world.key]: { action: "accept", content: {} } });
    await world.clock.advance(5_000);
    world.backend.of().progress({ done: 1, total: 2 });
    await world.clock.settle();
    world.backend.of().succeed({});
    await world.clock.advance(5_000);
    expect(await world.record(world.taskId)).toMatchObject({
      state: "succeeded",
      later: { kept: [1, 2.5, "x"] },
      policy: { later: true },
      start: { later: "s" },
      questions: [{ later: { of: world.key } }],
      effects: [{ kind: "announce", id: "e900", attempts: 0, notBefore: 0, later: 1 }],
    });
  });

  it("is cancelled like any other", async () => {
    const world = await open();
    await world.process.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.advance(5_000);
    expect(world.backend.of().cancels).toHaveLength(1);
    expect(await world.record(world.taskId)).toMatchObject({ state: "cancelled", later: { kept: [1, 2.5, "x"] } });
  });

  it("leaves what only that version can do to it, stays due for it, and keeps this one from nothing else", async () => {
    const world = await open();
    await world.clock.advance(30_000);
    const left = (await world.record(world.taskId)) as TaskRecord;
    expect(left).toMatchObject({ effects: [{ kind: "announce", attempts: 0, notBefore: 0 }], wakeAt: 0 });
    await world.process.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.advance(5_000);
    const cancelled = (await world.record(world.taskId)) as TaskRecord;
    expect(cancelled).toMatchObject({ state: "cancelled", wakeAt: 0 });
  });

  it("keeps nothing else waiting that is due, however many of them there are", async () => {
    const world = createWorld({ replicas: true, limits: { maxConcurrentTasksPerOwner: 100 } });
    const [one] = [await world.boot(), await world.boot()];
    for (let index = 0; index < 40; index++) {
      const { record } = await startTask(one);
      const current = (await world.record(record.taskId)) as TaskRecord;
      await world.store.revise(withLater(current), current.revision);
    }
    await world.clock.advance(10_000);
    world.backend.faults.always("start", { before: "unavailable" });
    for (let index = 0; index < 20; index++) await startTask(one);
    one.kill();
    world.backend.faults.clear();
    await world.clock.advance(3_000);
    expect(world.backend.executions).toHaveLength(60);
  });

  it("costs no more than a look a second", async () => {
    let inspections = 0;
    const world = createWorld({
      wrapStore: (store) => ({
        ...store,
        due: (...given) => {
          inspections++;
          return store.due(...given);
        },
      }),
    });
    const process = await world.boot();
    const { record } = await startTask(process);
    const { revision } = (await world.record(record.taskId)) as TaskRecord;
    await world.store.revise(withLater((await world.record(record.taskId)) as TaskRecord), revision);
    inspections = 0;
    await world.clock.advance(60_000);
    expect(inspections).toBeGreaterThan(0);
    expect(inspections).toBeLessThanOrEqual(65);
  });
});
