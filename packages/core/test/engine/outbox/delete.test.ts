import { describe, expect, it } from "@jest/globals";
import { type Access, localOwner, type TaskEngine, type TaskView } from "../../../src/index.ts";
import { attempted, createWorld, finalStop, mine, type WorldOptions } from "../harness.ts";

const taskId = "job-1";
const operator: Access = { operator: true };
const notFound = { code: "not_found", message: "Task not found", data: undefined };

/** A deleted task whose execution has not stopped yet. */
const openDeleted = async (options: WorldOptions = {}) => {
  const world = createWorld({ ...options, adapter: { ...options.adapter, traits: { cancel: "requested" } } });
  const process = await world.boot();
  await process.engine.createTask({ tool: "job", input: {}, owner: localOwner, taskId });
  const [record] = (await world.store.list(operator, {}, undefined, 1)).records;
  const reported: string[] = [];
  await process.engine.followTask(
    taskId,
    mine,
    (view: TaskView) => void reported.push(view.record.state),
    () => void reported.push("gone"),
  );
  await process.engine.deleteTask(taskId, mine);
  await world.clock.settle();
  return { ...world, ...process, internalId: record?.taskId ?? "", reported };
};

const verbs = (engine: TaskEngine, id: string, access: Access): readonly Promise<unknown>[] => [
  engine.readTask(id, access),
  engine.waitForTask(id, access, { until: "ended", timeoutMs: 1_000 }),
  engine.followTask(id, access, () => {}),
  engine.answerTask(id, access, {}),
  engine.claimQuestion(id, access, "q1", { by: "me", forMs: 1_000 }),
  engine.cancelTask(id, access, finalStop),
  engine.readOutput(id, access, { offset: 0, length: 1 }),
  engine.deleteTask(id, access),
];

describe("a deleted task whose execution is still being stopped", () => {
  it("is unknown to every verb, in every process, and in no listing", async () => {
    const world = await openDeleted();
    const { engine } = await world.boot();
    expect(await world.record(world.internalId)).toMatchObject({ deleted: true, slotHeld: true });
    for (const answer of verbs(engine, taskId, mine)) await expect(answer).rejects.toMatchObject(notFound);
    for (const answer of verbs(engine, world.internalId, operator))
      await expect(answer).rejects.toMatchObject(notFound);
    await expect(engine.releaseQuestion(taskId, mine, "q1", "me")).resolves.toBeUndefined();
    for (const filter of [{}, { slotHeld: true }, { includeExpired: true }])
      expect((await engine.listTasks(mine, filter, undefined, 10)).tasks).toEqual([]);
    expect(world.reported.at(-1)).toMatch(/cancelled|gone/);
  });

  it("can be explained to the operator, who wants to know what becomes of it", async () => {
    const world = await openDeleted();
    const { record } = await world.engine.explainTask(taskId);
    expect(record).toMatchObject({ taskId: world.internalId, state: "cancelled", deleted: true, slotHeld: true });
  });

  it("keeps its slot, unnamed, until the execution has stopped", async () => {
    const world = await openDeleted({ limits: { maxConcurrentTasksPerOwner: 1 } });
    const start = (): Promise<TaskView> => world.engine.createTask({ tool: "job", input: {}, owner: localOwner });
    await expect(start()).rejects.toMatchObject({ code: "limit_exceeded", data: { openTaskIds: [] } });
    world.backend.of().stop();
    await world.clock.advance(1_000);
    await expect(start()).resolves.toMatchObject({ record: { state: "running" } });
  });

  it.each(["succeed", "fail"] as const)("is not brought back when its execution does %s after all", async (how) => {
    const world = await openDeleted({ task: { retentionMs: 5_000 } });
    await world.clock.advance(20_000);
    for (const answer of verbs(world.engine, taskId, mine)) await expect(answer).rejects.toMatchObject(notFound);
    world.backend.of()[how]("late");
    await world.clock.advance(2_000);
    await expect(world.engine.readTask(taskId, mine)).rejects.toMatchObject(notFound);
    expect(await world.record(world.internalId)).toBeUndefined();
    expect(world.backend.of().forgotten).toBe(true);
    expect(world.audited("late_outcome")).toHaveLength(1);
    expect([world.audited("task_deleted").length, world.audited("task_expired").length]).toEqual([1, 0]);
    const again = world.engine.createTask({ tool: "job", input: {}, owner: localOwner, taskId });
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    expect(world.backend.starts()).toBe(1);
  });
});

describe("deleting", () => {
  it("makes a task unknown also when it expires at that very moment", async () => {
    let meanwhile = async (): Promise<void> => {};
    const world = createWorld({
      task: { retentionMs: 5_000 },
      wrapStore: (store) => ({
        ...store,
        revise: async (record, expected, options) => {
          const act = meanwhile;
          meanwhile = async () => {};
          if (record.deleted === true) await act();
          return store.revise(record, expected, options);
        },
      }),
    });
    world.backend.faults.always("forget", { before: { code: "throttled", retryAfterMs: 60_000 } });
    const { engine } = await world.boot();
    const { record } = await engine.createTask({ tool: "job", input: {}, owner: localOwner });
    world.backend.of().succeed();
    await world.clock.settle();
    meanwhile = async () => {
      const current = await world.record(record.taskId);
      if (current !== undefined) await world.store.revise({ ...current, expired: true }, current.revision);
    };
    await engine.deleteTask(record.taskId, mine);
    expect(await world.record(record.taskId)).toMatchObject({ expired: true, deleted: true });
    await expect(engine.readTask(record.taskId, mine)).rejects.toMatchObject(notFound);
  });

  it("lets an equal call that was folded into the task meanwhile start one of its own", async () => {
    const world = createWorld({ task: { dedupeWindowMs: 60_000 }, adapter: { without: ["watch"] } });
    const { engine } = await world.boot();
    const call = (): Promise<TaskView> => engine.createTask({ tool: "job", input: {}, owner: localOwner });
    world.backend.faults.next("start", { answerDelayMs: 1_500 });
    const first = attempted(call());
    await world.clock.settle();
    const second = call();
    await world.clock.settle();
    const [{ record } = { record: undefined }] = (await engine.listTasks(mine, {}, undefined, 1)).tasks;
    await engine.deleteTask(record?.taskId, mine);
    await world.clock.advance(3_000);
    await Promise.allSettled([first]);
    const { record: own } = await second;
    expect(own.taskId).not.toBe(record?.taskId);
    expect((await engine.readTask(own.taskId, mine)).record.state).toBe("running");
  });

  it("is done once by two who ask at the same time", async () => {
    const world = createWorld();
    const processes = [await world.boot(), await world.boot()];
    await processes[0]?.engine.createTask({ tool: "job", input: {}, owner: localOwner, taskId });
    const outcomes = await Promise.allSettled(processes.map(({ engine }) => engine.deleteTask(taskId, mine)));
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(notFound);
    await world.clock.advance(5_000);
    expect(world.backend.callsOf("cancel")).toHaveLength(1);
    expect((await world.store.list(operator, { includeExpired: true }, undefined, 10)).records).toEqual([]);
  });
});
