import { describe, expect, it } from "@jest/globals";
import type { TaskEngine } from "../../../src/index.ts";
import { type Access, asOwnerId, type PrepareOutcome } from "../../../src/index.ts";
import { createWorld, finalStop, mine, startTask, stop, type WorldOptions } from "../harness.ts";

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
  claim: (engine, id, access) => engine.claimQuestion(id, access, "q1", { by: "me", forMs: 1_000 }),
  cancel: (engine, id, access) => engine.cancelTask(id, access, finalStop),
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
      lastInspectedAt: world.clock.now(),
      lastInspectError: expect.stringContaining("rate exceeded"),
      backendBackoffMs: 9_000,
      pollIntervalMs: 9_000,
    });
    await expect(world.engine.explainTask("unknown")).rejects.toMatchObject(notFound);
  });
});
