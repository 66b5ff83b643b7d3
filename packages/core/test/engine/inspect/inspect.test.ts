import { describe, expect, it } from "@jest/globals";
import type { InspectItem } from "../../../src/adapter.ts";
import { createWorld, mine, startTask, stop, type WorldOptions } from "../harness.ts";

/** Without news, so that only looks tell; without a sweep unless it is asked for. */
const open = async ({ adapter, limits, ...options }: WorldOptions = {}, tasks = 1) => {
  const world = createWorld({
    ...options,
    adapter: { without: ["watch"], ...adapter },
    limits: { sweepIntervalMs: 86_400_000, maxConcurrentTasksPerOwner: 10_000, ...limits },
  });
  const process = await world.boot();
  // The first sweep finds nothing.
  await world.clock.advance(0);
  const taskIds: string[] = [];
  for (let count = 0; count < tasks; count++) taskIds.push((await startTask(process)).record.taskId);
  const inspect = async (taskId = taskIds[0]) => process.engine.readTask(taskId, mine);
  return { ...world, ...process, taskIds, taskId: taskIds[0] as string, inspect };
};

const sizes = (world: Awaited<ReturnType<typeof open>>): readonly number[] =>
  world.backend.callsOf("inspect").map(({ args }) => (args[0] as readonly InspectItem[]).length);

describe("looking at executions", () => {
  it("costs one look for a thousand readers at once, and none while it is fresh", async () => {
    const world = await open({ task: { pollIntervalMs: 2_000 } });
    for (const elapsed of [0, 1_999]) {
      await world.clock.advance(elapsed);
      const views = await Promise.all(Array.from({ length: 1_000 }, () => world.inspect()));
      expect(new Set(views.map(({ record }) => record.revision)).size).toBe(1);
      expect(sizes(world)).toEqual([1]);
    }
    await world.clock.advance(1);
    await Promise.all(Array.from({ length: 1_000 }, () => world.inspect()));
    expect(sizes(world)).toEqual([1, 1]);
  });

  it("costs the same while a hundred wait", async () => {
    const world = await open({ task: { pollIntervalMs: 2_000 } });
    const waits = Array.from({ length: 100 }, () =>
      world.engine.waitForTask(world.taskId, mine, { until: "ended", timeoutMs: 60_000 }),
    );
    await world.clock.advance(9_000);
    expect(sizes(world).length).toBeLessThanOrEqual(6);
    world.backend.of().succeed({});
    await world.clock.advance(2_000);
    for (const { record } of await Promise.all(waits)) expect(record.state).toBe("succeeded");
    const inspections = sizes(world).length;
    await Promise.all(Array.from({ length: 10 }, () => world.inspect()));
    expect(sizes(world)).toHaveLength(inspections);
    await world.clock.settle();
  });

  it("asks for many in batches of the size that the backend takes", async () => {
    const world = await open({ adapter: { without: ["watch"], traits: { inspectBatch: 10 } } }, 25);
    await Promise.all(world.taskIds.map(world.inspect));
    expect(sizes(world)).toEqual([10, 10, 5]);
  });

  it("asks for details only while someone looks", async () => {
    const world = await open({
      limits: { sweepIntervalMs: 60_000 },
      adapter: { without: ["watch"], traits: { questions: "none" } },
    });
    await world.clock.advance(130_000);
    const wanted = world.backend.callsOf("inspect").map(({ args }) => (args[0] as readonly InspectItem[])[0]?.want);
    expect(new Set(wanted)).toEqual(new Set(["status"]));
    await world.inspect();
    expect(world.backend.callsOf("inspect").at(-1)?.args[0]).toMatchObject([{ want: "detail" }]);
  });

  it("asks for no details where only ends count: an owner is full", async () => {
    const world = await open({ limits: { maxConcurrentTasksPerOwner: 1 } });
    const inspections = sizes(world).length;
    world.backend.of().succeed({});
    await startTask(world);
    const wanted = world.backend.callsOf("inspect").slice(inspections);
    expect(wanted.map(({ args }) => args[0])).toMatchObject([[{ want: "status" }]]);
  });

  it("asks for details also right after a look that did not", async () => {
    const world = await open({
      task: { pollIntervalMs: 2_000 },
      limits: { maxConcurrentTasksPerOwner: 1 },
      adapter: { hidesDetail: true, without: ["watch"] },
    });
    world.backend.of().ask();
    world.backend.faults.next("inspect", { answerDelayMs: 1_000 });
    const refused = startTask(world).catch(() => {});
    await world.clock.settle();
    const read = world.inspect();
    await world.clock.advance(1_000);
    expect((await read).record.state).toBe("waiting");
    await refused;
  });

  it("answers from the last state while one look hangs, without holding up the others of its batch", async () => {
    const world = await open({}, 3);
    for (const execution of world.backend.executions) execution.progress({ done: 1 });
    world.backend.executions[0]?.nextInspect("hang");
    const reads = world.taskIds.map(world.inspect);
    await world.clock.advance(1_000);
    const done = (await Promise.all(reads)).map(({ record }) => record.execution?.progress?.done);
    expect(done).toEqual([undefined, 1, 1]);
    expect((await world.engine.explainTask(world.taskId)).lastInspectError).toContain("no answer");
  });

  it("says since when it has not seen anything, from the look that failed to the next that tells something", async () => {
    const world = await open({ limits: { sweepIntervalMs: 600_000 }, task: { pollIntervalMs: 1_000 } });
    await world.clock.advance(60_000);
    const seenAt = world.clock.now();
    expect((await world.inspect()).staleSince).toBeUndefined();
    world.backend.faults.always("inspect", { before: "unavailable" });
    await world.clock.advance(10_000);
    const view = await world.inspect();
    expect([view.record.state, view.staleSince]).toEqual(["running", seenAt]);
    const { tasks } = await world.engine.listTasks(mine, {}, undefined, 10);
    expect(tasks.map(({ staleSince }) => staleSince)).toEqual([seenAt]);
    expect(world.engine.unavailableAdapters()).toEqual(["fake"]);
    world.backend.faults.clear();
    await world.clock.advance(60_000);
    await world.inspect();
    expect((await world.inspect()).staleSince).toBeUndefined();
    expect(world.engine.unavailableAdapters()).toEqual([]);
  });

  it("answers from the last state when the whole call hangs", async () => {
    const world = await open({ limits: { readWaitMs: 2_000 } });
    world.backend.faults.next("inspect", { before: "hang" });
    const read = world.inspect();
    await world.clock.advance(2_000);
    expect((await read).record.state).toBe("running");
  });

  it("never lets a stale look bring back what has ended", async () => {
    const world = await open({ adapter: { without: [] } });
    world.backend.staleMs = 60_000;
    world.backend.of().succeed({});
    await world.clock.settle();
    await world.inspect();
    const again = await world.boot();
    await again.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.advance(30_000);
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded", execution: { status: "succeeded" } });
  });

  it("keeps a ref that has evolved, and finds news under either", async () => {
    const world = await open({ adapter: { startsAs: "queued", evolvingRefs: true, without: ["watch"] } });
    const { ref: old } = world.backend.of();
    world.backend.of().run();
    await world.inspect();
    expect((await world.record(world.taskId))?.ref).toBe(world.backend.of().ref);
    expect(world.backend.of().ref).not.toBe(old);
    await world.engine.receive("fake", world.backend.webhook([{ key: world.backend.of().key, ref: old }]));
    expect(world.audited("unmatched_update")).toEqual([]);
  });

  it("concludes nothing from an older look that missed what has become something else meanwhile", async () => {
    const world = await open({ adapter: { startsAs: "queued", evolvingRefs: true, without: ["watch"] } });
    world.backend.of().nextInspect({ notFound: { proven: true, reason: "it has left the queue" } });
    world.backend.faults.next("inspect", { answerDelayMs: 3_000 });
    const slow = world.inspect();
    await world.clock.advance(1_000);
    world.backend.of().run();
    await (await world.boot()).engine.readTask(world.taskId, mine);
    await world.clock.advance(2_000);
    await slow;
    expect(await world.record(world.taskId)).toMatchObject({ state: "running", ref: world.backend.of().ref });
  });

  it("never asks more often than the backend allows, whatever is known to have changed", async () => {
    const world = await open({ adapter: { without: ["watch"], traits: { minInspectIntervalMs: 10_000 } } });
    const { key } = world.backend.of();
    await world.inspect();
    for (let update = 0; update < 20; update++) {
      await world.engine.receive("fake", world.backend.webhook([{ key }]));
      await world.clock.advance(500);
    }
    world.backend.of().succeed({});
    await world.engine.receive("fake", world.backend.webhook([{ key }]));
    await world.clock.advance(10_000);
    const at = world.backend.callsOf("inspect").map((call) => call.at);
    for (const [index, instant] of at.slice(1).entries())
      expect(instant - (at[index] as number)).toBeGreaterThanOrEqual(10_000);
    expect(at.length).toBeGreaterThanOrEqual(2);
    expect((await world.record(world.taskId))?.state).toBe("succeeded");
  });
});

describe("the interval that clients are told", () => {
  it("is the largest of the tool's floor, the backend's floor and its pause, for each task (case 14)", async () => {
    const world = await open({
      task: { pollIntervalMs: 100 },
      adapter: { without: ["watch"], traits: { minInspectIntervalMs: 700 } },
    });
    expect((await world.inspect()).pollIntervalMs).toBe(700);
    const other = await startTask(world, {}, { tool: "other" });
    expect(other.pollIntervalMs).toBe(2_000);
    world.backend.faults.next("inspect", { before: { code: "throttled", retryAfterMs: 90_000 } });
    await world.clock.advance(700);
    expect((await world.inspect()).pollIntervalMs).toBeGreaterThanOrEqual(90_000);
    expect((await world.engine.readTask(other.record.taskId, mine)).pollIntervalMs).toBeGreaterThanOrEqual(90_000);
  });

  it("grows with age, and shrinks again before the expected end", async () => {
    const world = await open({ task: { pollIntervalMs: 1_000 } });
    const reported: number[] = [];
    for (const elapsed of [0, 100_000, 500_000, 5_000_000]) {
      await world.clock.advance(elapsed);
      reported.push((await world.inspect()).pollIntervalMs);
    }
    expect(reported).toEqual([1_000, 2_000, 12_000, 30_000]);
    world.backend.of().set({ expectedEndAt: world.clock.now() + 34_000 });
    await world.clock.advance(30_000);
    await world.inspect();
    expect((await world.inspect()).pollIntervalMs).toBe(4_000);
  });

  it("shrinks before the end that the tool expects", async () => {
    const world = await open({ task: { pollIntervalMs: 1_000, expectedMs: 510_000 } });
    await world.clock.advance(500_000);
    expect((await world.inspect()).pollIntervalMs).toBe(10_000);
    await world.clock.advance(7_000);
    expect((await world.inspect()).pollIntervalMs).toBe(3_000);
  });

  it("shrinks before the end that earlier runs of the tool make likely, failed ones apart", async () => {
    const world = await open({ task: { pollIntervalMs: 1_000 } }, 5);
    for (const [index, execution] of world.backend.executions.slice(0, 4).entries()) {
      await world.clock.advance(100_000);
      if (index === 0) execution.fail("broken");
      else execution.succeed("done");
      await world.inspect(world.taskIds[index]);
    }
    const { record } = await startTask(world);
    await world.clock.advance(290_000);
    expect((await world.inspect(record.taskId)).pollIntervalMs).toBe(5_800);
    await world.clock.advance(6_000);
    expect((await world.inspect(record.taskId)).pollIntervalMs).toBe(4_000);
  });

  it("grows with each refusal while the backend throttles, nobody asking meanwhile, and is back with its answer (case 28)", async () => {
    const world = await open({ task: { pollIntervalMs: 100 }, limits: { sweepIntervalMs: 1_000 } }, 50);
    world.backend.faults.always("inspect", { before: "throttled" });
    const backoffs: number[] = [];
    const waits = world.taskIds.map((id) => world.engine.waitForTask(id, mine, { until: "ended", timeoutMs: 600_000 }));
    for (let second = 0; second < 60; second++) {
      await world.clock.advance(1_000);
      backoffs.push((await world.engine.explainTask(world.taskId)).backendBackoffMs);
    }
    expect(world.backend.callsOf("inspect").length).toBeLessThanOrEqual(8);
    expect(Math.max(...backoffs)).toBeGreaterThanOrEqual(16_000);
    expect((await world.inspect()).pollIntervalMs).toBeGreaterThan(1_000);
    world.backend.faults.clear();
    await world.clock.advance(60_000);
    expect((await world.engine.explainTask(world.taskId)).backendBackoffMs).toBe(0);
    expect((await world.inspect()).pollIntervalMs).toBeLessThan(5_000);
    for (const execution of world.backend.executions) execution.succeed();
    await world.clock.advance(5_000);
    expect((await Promise.all(waits)).every(({ record }) => record.state === "succeeded")).toBe(true);
  });

  it("keeps within the calls a minute that the backend allows", async () => {
    const world = await open(
      { adapter: { without: ["watch"], traits: { inspectBatch: 1, maxInspectCallsPerMinute: 30 } } },
      20,
    );
    const reads = world.taskIds.map(world.inspect);
    await world.clock.advance(60_000);
    await Promise.all(reads);
    const { length } = world.backend.callsOf("inspect");
    expect(length).toBeGreaterThanOrEqual(15);
    expect(length).toBeLessThanOrEqual(30);
  });
});

describe("tasks that nobody reads", () => {
  /** On a backend that limits calls by the minute. */
  const rationed = { without: ["watch"], hidesDetail: true, traits: { maxInspectCallsPerMinute: 10 } } as const;
  const detailed = (world: Awaited<ReturnType<typeof open>>, since = 0): readonly string[] =>
    world.backend
      .callsOf("inspect")
      .filter(({ at }) => at >= since)
      .flatMap(({ args }) => (args[0] as readonly InspectItem[]).filter(({ want }) => want === "detail"))
      .map(({ ref }) => ref);

  it("are looked at in detail in turn, as many a minute as the backend takes calls", async () => {
    const world = await open({ adapter: rationed, limits: { sweepIntervalMs: 60_000 } }, 40);
    for (let minute = 1; minute <= 4; minute++) {
      await world.clock.advance(60_000);
      expect(detailed(world)).toHaveLength(10 * minute);
      expect(sizes(world)).toHaveLength(minute);
    }
    expect(new Set(detailed(world)).size).toBe(40);
    // Where they are not many, all are.
    const few = await open({ adapter: rationed, limits: { sweepIntervalMs: 60_000 } }, 10);
    few.backend.of().ask();
    await few.clock.advance(60_000);
    expect(new Set(detailed(few)).size).toBe(10);
    expect(await few.record(few.taskIds[9] as string)).toMatchObject({ state: "waiting" });
  });

  it("are looked at in detail the sooner the younger they are, also by a process that has just started", async () => {
    const world = await open({ adapter: rationed, limits: { sweepIntervalMs: 60_000 } }, 40);
    await world.clock.advance(3_600_000);
    world.kill();
    const next = await world.boot();
    for (let count = 0; count < 5; count++) await startTask(next);
    const young = world.backend.executions.slice(40).map(({ ref }) => ref as string);
    const startedAt = world.clock.now();
    // The lease of the one that was killed lapses first.
    await world.clock.advance(120_000);
    expect(detailed(world, startedAt + 1)).toEqual(expect.arrayContaining(young));
    await world.clock.advance(600_000);
    const reported = detailed(world, startedAt);
    const inspections = (refs: readonly string[]): number =>
      reported.filter((ref) => refs.includes(ref)).length / refs.length;
    const old = world.backend.executions.slice(0, 40).map(({ ref }) => ref as string);
    expect(inspections(young)).toBeGreaterThan(3 * inspections(old));
    expect(Math.min(...old.map((ref) => inspections([ref])))).toBeGreaterThan(0);
  });

  it("are seen in detail as soon as somebody reads them, however lately they were looked at", async () => {
    const world = await open({ adapter: rationed, limits: { sweepIntervalMs: 60_000 } }, 40);
    await world.clock.advance(60_000);
    const undetailed = world.backend.executions.findIndex(({ ref }) => !detailed(world).includes(ref));
    world.backend.executions[undetailed]?.ask();
    // A call may be made again.
    await world.clock.advance(6_000);
    expect((await world.inspect(world.taskIds[undetailed])).record.state).toBe("waiting");
  });

  it("are swept slowly, so that an end is noticed", async () => {
    const world = await open({ limits: { sweepIntervalMs: 60_000 } }, 3);
    world.backend.of().succeed({});
    await world.clock.advance(61_000);
    expect((await world.record(world.taskIds[2] as string))?.state).toBe("succeeded");
    await world.clock.advance(600_000);
    expect(world.backend.callsOf("inspect").length).toBeLessThanOrEqual(13);
  });

  it("are looked at well within the time in which the backend forgets", async () => {
    const world = await open({ adapter: { without: ["watch"], traits: { mustInspectWithinMs: 10_000 } } });
    await world.clock.advance(120_000);
    const at = world.backend.callsOf("inspect").map((call) => call.at);
    for (const [index, instant] of at.slice(1).entries())
      expect(instant - (at[index] as number)).toBeLessThanOrEqual(5_000);
    expect(at.length).toBeGreaterThanOrEqual(20);
  });

  it("are looked at by a process that starts, although the one that was killed still holds the lease", async () => {
    const world = await open({ adapter: { without: ["watch"] }, limits: { sweepIntervalMs: 3_600_000 } });
    world.kill();
    world.backend.of().succeed({});
    await world.clock.advance(5_000);
    await world.boot();
    await world.clock.advance(1_000);
    expect((await world.record(world.taskId))?.state).toBe("succeeded");
  });

  it("are swept by one process for all, and by another soon after that one died", async () => {
    const world = await open({ adapter: { without: ["watch"], traits: { mustInspectWithinMs: 30_000 } } });
    for (let replica = 0; replica < 3; replica++) await world.boot();
    await world.clock.advance(300_000);
    expect(world.backend.callsOf("inspect").length).toBeLessThanOrEqual(33);
    world.kill();
    world.backend.of().succeed({});
    await world.clock.advance(30_000);
    expect((await world.record(world.taskId))?.state).toBe("succeeded");
  });
});
