import { describe, expect, it } from "@jest/globals";
import type { ExecutionSnapshot, ExecutionStatus } from "../../../src/adapter.ts";
import { createWorld, finalStop, mine, startTask, stop, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}, tasks = 1) => {
  const world = createWorld({
    ...options,
    limits: { sweepIntervalMs: 86_400_000, maxConcurrentTasksPerOwner: 100, ...options.limits },
  });
  const process = await world.boot();
  await world.clock.advance(0);
  const taskIds: string[] = [];
  for (let count = 0; count < tasks; count++) taskIds.push((await startTask(process)).record.taskId);
  const taskId = taskIds[0] as string;
  return { ...world, ...process, taskIds, taskId, saved: () => world.record(taskId) };
};
type Open = Awaited<ReturnType<typeof open>>;

const unwatched: WorldOptions = { adapter: { without: ["watch"], traits: { cancel: "requested" } } };
const statuses: readonly ExecutionStatus[] = ["queued", "running", "waiting", "succeeded", "failed", "cancelled"];

describe("a task that has ended", () => {
  const ends: Readonly<Record<string, (world: Open) => unknown>> = {
    succeeded: ({ backend }) => backend.of().succeed({ first: true }),
    failed: ({ backend }) => backend.of().fail("first"),
    cancelled: ({ engine, taskId }) => engine.cancelTask(taskId, mine, finalStop),
    lost: async ({ backend, engine, taskId }) => {
      backend.of().vanish({ proven: true, reason: "first" });
      await engine.readTask(taskId, mine);
    },
    "failed by maxRunMs": ({ clock }) => clock.advance(5_000),
  };
  const reported = ({
    record,
  }: {
    record: {
      state: string;
      message?: string;
      failure?: unknown;
      output?: unknown;
      endedAt?: number;
      updatedAt: number;
    };
  }) => {
    const { state, message, failure, output, endedAt, updatedAt } = record;
    return { state, message, failure, output, endedAt, updatedAt };
  };

  it.each(Object.keys(ends).flatMap((end) => statuses.map((status) => [end, status] as const)))(
    "as %s answers the same for ever, also when the backend then tells %s",
    async (end, status) => {
      const world = await open({ task: { maxRunMs: 5_000 }, adapter: { traits: { cancel: "requested" } } });
      await ends[end]?.(world);
      await world.clock.settle();
      const before = reported(await world.engine.readTask(world.taskId, mine));
      world.backend.of().reappear();
      const late: ExecutionSnapshot = {
        status,
        ...(status === "succeeded" ? { output: { kind: "text", text: "late" } } : {}),
      };
      world.backend.events.send({ key: world.backend.of().key, ref: world.backend.of().ref, snapshot: late });
      await world.clock.advance(1_000);
      expect(reported(await world.engine.readTask(world.taskId, mine))).toEqual(before);
    },
  );

  it("ends once when two processes see two ends at the same moment: the first one written", async () => {
    const world = await open(unwatched);
    const other = await world.boot();
    world.backend
      .of()
      .nextInspect({ snapshot: { status: "failed", failure: { kind: "job", reason: "as one saw it" } } });
    world.backend
      .of()
      .nextInspect({ snapshot: { status: "succeeded", output: { kind: "text", text: "as the other saw it" } } });
    const views = await Promise.all([world, other].map(({ engine }) => engine.readTask(world.taskId, mine)));
    expect(new Set(views.map(({ record }) => record.state)).size).toBe(1);
    expect(world.audited("task_ended")).toHaveLength(1);
  });

  it("by maxRunMs keeps its slot until the execution has ended, and logs a late success (case 7)", async () => {
    const world = await open({
      task: { maxRunMs: 5_000 },
      limits: { maxConcurrentTasksPerOwner: 1 },
      adapter: { traits: { cancel: "requested" } },
    });
    await world.clock.advance(5_000);
    expect(await world.saved()).toMatchObject({
      state: "failed",
      failure: { kind: "protocol", code: "max_run" },
      slotHeld: true,
      effects: [],
    });
    expect(world.backend.of().cancels).toHaveLength(1);
    await expect(startTask(world)).rejects.toMatchObject({ code: "limit_exceeded" });
    world.backend.of().succeed({ late: true });
    await world.clock.settle();
    expect(await world.saved()).toMatchObject({ state: "failed", slotHeld: false, execution: { status: "succeeded" } });
    expect((await world.saved())?.output).toBeUndefined();
    expect(world.audited("late_outcome")).toMatchObject([
      { message: "the task was failed; the execution ended as succeeded" },
    ]);
    await expect(startTask(world)).resolves.toBeDefined();
  });

  it("by maxRunMs does not include one whose execution made it and whose result is still being fetched", async () => {
    const world = await open({ task: { maxRunMs: 5_000 } });
    world.backend.faults.next("readOutput", { before: { code: "unavailable", retryAfterMs: 10_000 } });
    world.backend.of().succeedWithStream("made it");
    await world.clock.advance(20_000);
    expect(await world.saved()).toMatchObject({ state: "succeeded" });
  });

  it("by cancel keeps its slot until the execution has ended", async () => {
    const world = await open({ ...unwatched, limits: { maxConcurrentTasksPerOwner: 1 } });
    await world.engine.cancelTask(world.taskId, mine, finalStop);
    await expect(startTask(world)).rejects.toMatchObject({
      code: "limit_exceeded",
      data: { openTaskIds: [world.taskId] },
    });
    world.backend.of().stop();
    await expect(startTask(world)).resolves.toBeDefined();
    expect(await world.saved()).toMatchObject({ state: "cancelled", slotHeld: false });
  });

  it("as lost logs what the backend tells after all", async () => {
    const world = await open();
    world.backend.of().vanish({ proven: true });
    await world.engine.readTask(world.taskId, mine);
    world.backend.of().reappear();
    world.backend.of().succeed({});
    await world.clock.settle();
    expect(world.audited("late_outcome")).toHaveLength(1);
    expect(await world.saved()).toMatchObject({ state: "failed", execution: { status: "succeeded" } });
  });
});

describe("an end that the backend tells", () => {
  it("is the task's own after an acknowledged cancel, whatever it is", async () => {
    for (const end of ["succeeded", "failed", "cancelled"] as const) {
      const world = await open(unwatched);
      await world.engine.cancelTask(world.taskId, mine, stop);
      await world.clock.settle();
      world.backend
        .of()
        .set({ status: end, ...(end === "failed" ? { failure: { kind: "job", reason: "broke" } } : {}) });
      await world.clock.advance(2_000);
      await world.engine.readTask(world.taskId, mine);
      expect(await world.saved()).toMatchObject({ state: end, slotHeld: false });
    }
  });

  it("as cancelled that nobody here asked for is a failure: stopped_outside, with the backend's reason", async () => {
    const world = await open();
    world.backend.of().stop("an operator clicked stop");
    await world.clock.settle();
    expect(await world.saved()).toMatchObject({
      state: "failed",
      failure: {
        kind: "protocol",
        code: "stopped_outside",
        reason: expect.stringContaining("an operator clicked stop"),
      },
    });
  });

  it("as failed keeps kind, reason, code and detail", async () => {
    const world = await open();
    const failure = { kind: "job", reason: "exit code 2", code: "ENOENT", detail: "no such file" } as const;
    world.backend.of().fail(failure);
    await world.clock.settle();
    expect(await world.saved()).toMatchObject({ state: "failed", message: "exit code 2", failure });
  });
});

describe("an execution that is not found", () => {
  const inspect = async (world: Open, id = world.taskId) => (await world.engine.readTask(id, mine)).record;

  it("is lost at once when that is proven, with the reason (case 4)", async () => {
    const world = await open(unwatched);
    world.backend.of().vanish({ proven: true, reason: "the machine was restarted" });
    expect(await inspect(world)).toMatchObject({
      state: "failed",
      failure: { code: "lost", reason: "lost: the machine was restarted" },
      slotHeld: false,
    });
  });

  it("unproven, is lost only after lostAfterMs, and not when it was seen in between", async () => {
    const world = await open({ ...unwatched, limits: { lostAfterMs: 60_000 } });
    world.backend.of().vanish({ reason: "not in the list" });
    for (const _inspection of [0, 20_000, 35_000]) {
      await world.clock.advance(_inspection);
      expect(await inspect(world)).toMatchObject({ state: "running" });
    }
    world.backend.of().reappear();
    await world.clock.advance(10_000);
    const seen = await inspect(world);
    expect(seen.missingSince).toBeUndefined();
    expect(seen.message).toBeUndefined();
    world.backend.of().vanish({ reason: "not in the list" });
    await world.clock.advance(10_000);
    await inspect(world);
    await world.clock.advance(59_000);
    expect(await inspect(world)).toMatchObject({ state: "running" });
    await world.clock.advance(10_000);
    expect(await inspect(world)).toMatchObject({
      state: "failed",
      failure: { code: "lost", reason: "lost: not in the list" },
    });
  });

  it("unproven, is told to whoever waits, with the reason and until when", async () => {
    const world = await open({ ...unwatched, limits: { lostAfterMs: 60_000 } });
    await world.clock.advance(20_000);
    world.backend.of().vanish({ reason: "not in the list" });
    const since = world.clock.now();
    const iso = (at: number) => new Date(at).toISOString();
    const message = `not to be seen in the backend since ${iso(since)}: not in the list; given up at ${iso(since + 60_000)}`;
    expect(await inspect(world)).toMatchObject({ state: "running", message, updatedAt: since });
    await world.clock.advance(30_000);
    expect(await inspect(world)).toMatchObject({ state: "running", message, updatedAt: since });
  });

  it("concludes nothing while more than a fifth of ten or more vanish at once, unless proven", async () => {
    for (const [vanished, proven, lost] of [
      [3, false, 0],
      [3, true, 3],
      [2, false, 2],
    ] as const) {
      const world = await open({ ...unwatched, limits: { lostAfterMs: 10_000 } }, 10);
      for (const execution of world.backend.executions.slice(0, vanished)) execution.vanish({ proven });
      for (const elapsed of [0, 20_000, 20_000]) {
        await world.clock.advance(elapsed);
        await Promise.all(world.taskIds.map((id) => inspect(world, id)));
      }
      const records = await Promise.all(world.taskIds.map((id) => world.record(id)));
      expect(records.filter((record) => record?.failure?.code === "lost")).toHaveLength(lost);
      expect(world.audited("adapter_suspect").length > 0).toBe(lost === 0);
      const reported = records.filter((record) => record?.message?.includes("like many others"));
      expect(reported).toHaveLength(lost === 0 ? vanished : 0);
    }
  });

  it("is given up after 144 times as long where it is one of many, looked at together or each for itself", async () => {
    const world = await open({ ...unwatched, limits: { lostAfterMs: 10_000 } }, 12);
    const lostAfter = async (elapsed: number): Promise<number> => {
      await world.clock.advance(elapsed);
      for (const id of world.taskIds) await inspect(world, id);
      const records = await Promise.all(world.taskIds.map((id) => world.record(id)));
      return records.filter((record) => record?.failure?.code === "lost").length;
    };
    expect(await lostAfter(2_000)).toBe(0);
    for (const execution of world.backend.executions) execution.vanish();
    const lost: number[] = [];
    for (const elapsed of [5_000, 20_000, 1_400_000, 30_000]) lost.push(await lostAfter(elapsed));
    expect(lost).toEqual([0, 0, 0, 12]);
    expect(world.audited("adapter_suspect")).toHaveLength(2);
  });

  it("after a delivered cancel has been stopped: cancelled", async () => {
    const world = await open(unwatched);
    await world.engine.cancelTask(world.taskId, mine, stop);
    world.backend.of().vanish();
    await world.clock.advance(2_000);
    expect(await inspect(world)).toMatchObject({ state: "cancelled", slotHeld: false });
  });

  it("gives back the slot of a task that was cancelled at once", async () => {
    const world = await open(unwatched);
    await world.engine.cancelTask(world.taskId, mine, finalStop);
    world.backend.of().vanish();
    await world.clock.settle();
    expect(await world.saved()).toMatchObject({ state: "cancelled", slotHeld: false });
  });
});
