import { describe, expect, it } from "@jest/globals";
import type { TaskEngine } from "@taskbridge/core";
import { type Access, asOwnerId, type PrepareOutcome } from "@taskbridge/core";
import { createWorld, latchedStop, mine, startTask, stop, type WorldOptions } from "./engine-harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  return { ...world, ...process };
};

const other: Access = { owner: asOwnerId("https://idp.example|other") };
const nobody: Access = { owner: null };

const verbs: Readonly<Record<string, (engine: TaskEngine, id: unknown, access: Access) => Promise<unknown>>> = {
  read: (engine, id, access) => engine.readTask(id, access),
  wait: (engine, id, access) => engine.waitForTask(id, access, { until: "ended", timeoutMs: 1_000 }),
  follow: (engine, id, access) => engine.followTask(id, access, () => {}),
  answer: (engine, id, access) => engine.answerTask(id, access, { q1: { action: "accept" } }),
  cancel: (engine, id, access) => engine.cancelTask(id, access, latchedStop),
  output: (engine, id, access) => engine.readOutput(id, access, { offset: 0, length: 1 }),
  delete: (engine, id, access) => engine.deleteTask(id, access),
};
const notFound = { code: "not_found", message: "Task not found", data: undefined, retryAfterMs: undefined };

describe("an ID that a caller may not use", () => {
  it.each(Object.entries(verbs))("is answered by %s exactly like an unknown one", async (_verb, call) => {
    const world = await open();
    const { record } = await startTask(world);
    const before = await world.record(record.taskId);
    for (const access of [other, nobody])
      await expect(call(world.engine, record.taskId, access)).rejects.toMatchObject(notFound);
    await expect(call(world.engine, "AAAAAAAAAAAAAAAAAAAAAAAAAAA", mine)).rejects.toMatchObject(notFound);
    await world.clock.advance(5_000);
    expect(await world.record(record.taskId)).toEqual(before);
    expect(world.backend.callsOf("cancel")).toEqual([]);
  });

  it.each([
    [""],
    ["../../etc/passwd"],
    ["a b"],
    ["ü"],
    ["x".repeat(257)],
    ["x\n"],
    ["%00"],
    ["a\u0000"],
    [undefined],
    [null],
    [7],
    [{}],
    [["a"]],
  ])("may be malformed: %j", async (id) => {
    const world = await open();
    for (const call of Object.values(verbs)) await expect(call(world.engine, id, mine)).rejects.toMatchObject(notFound);
  });

  it("of a task that expired is not told to others to have existed", async () => {
    const world = await open({ task: { retentionMs: 1_000 } });
    world.backend.faults.always("forget", { before: "unavailable" });
    const { record } = await startTask(world);
    world.backend.of().succeed({});
    await world.clock.advance(1_500);
    await expect(world.engine.readTask(record.taskId, mine)).rejects.toMatchObject({ data: { expired: true } });
    await expect(world.engine.readTask(record.taskId, other)).rejects.toMatchObject(notFound);
  });
});

describe("listing", () => {
  it("shows an owner's own tasks, newest first, page by page", async () => {
    const world = await open();
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      ids.unshift((await startTask(world)).record.taskId);
      await world.clock.advance(1);
    }
    await world.engine.createTask({ tool: "job", input: {}, owner: asOwnerId("https://idp.example|other") });
    const first = await world.engine.listTasks(mine, {}, undefined, 3);
    const second = await world.engine.listTasks(mine, {}, first.cursor, 3);
    expect([...first.tasks, ...second.tasks].map(({ record }) => record.taskId)).toEqual(ids);
    expect(second.cursor).toBeUndefined();
    await expect(world.engine.listTasks(other, {}, first.cursor, 3)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(world.engine.listTasks(mine, {}, undefined, 0)).rejects.toMatchObject({
      code: "invalid_input",
      data: { path: "limit" },
    });
  });

  it("is refused where there are no owners, where the ID alone grants access (case 18)", async () => {
    const world = await open();
    const { record } = await world.engine.createTask({ tool: "job", input: {}, owner: null });
    await expect(world.engine.listTasks(nobody, {}, undefined, 10)).rejects.toMatchObject({ code: "unsupported" });
    await expect(world.engine.readTask(record.taskId, nobody)).resolves.toMatchObject({ record: { owner: null } });
    await expect(world.engine.readTask(record.taskId, mine)).rejects.toMatchObject(notFound);
  });

  it("shows the operator everything, who may also use every task", async () => {
    const world = await open();
    const ids = await Promise.all(
      ["a", "b", null].map(async (name) => {
        const owner = name === null ? null : asOwnerId(name);
        return (await world.engine.createTask({ tool: "job", input: {}, owner })).record.taskId;
      }),
    );
    const operator: Access = { operator: true };
    const { tasks } = await world.engine.listTasks(operator, {}, undefined, 10);
    expect(tasks.map(({ record }) => record.taskId).sort()).toEqual([...ids].sort());
    for (const id of ids) await world.engine.cancelTask(id, operator, stop);
    await world.clock.advance(1_000);
    expect(world.backend.executions.map(({ snapshot }) => snapshot.status)).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
  });
});

describe("preparing a call", () => {
  const prepare = async (_input: unknown, answers: Readonly<Record<string, unknown>>): Promise<PrepareOutcome> =>
    answers.sure === undefined ? { questions: { sure: { message: "Sure?" } } } : { input: { sure: true } };

  it("asks what the tool asks, goes on with the answers, and starts nothing", async () => {
    const world = await open({ tool: { prepare } });
    expect(await world.engine.prepareCall("job", {}, {})).toEqual({ questions: { sure: { message: "Sure?" } } });
    expect(await world.engine.prepareCall("job", {}, { sure: { action: "accept" } })).toEqual({
      input: { sure: true },
    });
    expect(await world.engine.prepareCall("other", { as: "is" }, {})).toEqual({ input: { as: "is" } });
    expect(world.backend.callsOf("start")).toEqual([]);
  });

  it("checks the arguments before anything is asked", async () => {
    const input = { type: "object", properties: { size: { type: "number" } } };
    const world = await open({ tool: { prepare, input } });
    await expect(world.engine.prepareCall("job", { size: "big" }, {})).rejects.toMatchObject({
      code: "invalid_input",
      data: { path: "size" },
    });
    await expect(world.engine.prepareCall("nothing", {}, {})).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("explaining a task", () => {
  it("shows the record, what waits in the outbox, and the last look with its error", async () => {
    const world = await open({ adapter: { without: ["watch"], traits: { cancel: "requested" } } });
    const { record } = await startTask(world);
    world.backend.faults.always("cancel", { before: { code: "unavailable", message: "gateway timeout" } });
    world.backend.faults.always("inspect", {
      before: { code: "throttled", message: "rate exceeded", retryAfterMs: 9_000 },
    });
    await world.engine.cancelTask(record.taskId, mine, stop);
    await world.engine.readTask(record.taskId, mine);
    expect(await world.engine.explainTask(record.taskId)).toMatchObject({
      record: {
        taskId: record.taskId,
        effects: [{ kind: "cancel", attempts: 1, lastError: expect.stringContaining("gateway timeout") }],
      },
      lastLookedAt: world.clock.now(),
      lastLookError: expect.stringContaining("rate exceeded"),
      backendPenaltyMs: 9_000,
      pollIntervalMs: 9_000,
    });
    await expect(world.engine.explainTask("unknown")).rejects.toMatchObject(notFound);
  });
});

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
