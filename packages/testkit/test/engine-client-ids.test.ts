import { createHash } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { type Access, asOwnerId, asTaskId, localOwner, type TaskView } from "@taskbridge/core";
import { attempted, createWorld, mine, type Process, startTask, stop, type WorldOptions } from "./engine-harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  return { ...world, ...(await world.boot()) };
};

const taskId = "render-2026.11:a_1";
const scopeOf = (owner: string): string => createHash("sha256").update(owner).digest("hex").slice(0, 32);
const internalId = `${scopeOf("local")}~${taskId}`;

const someone = asOwnerId("https://idp.example|someone");
const theirs: Access = { owner: someone };
const operator: Access = { operator: true };

const mint = ({ engine }: Pick<Process, "engine">, input = {}, tool = "job"): Promise<TaskView> =>
  engine.createTask({ tool, input, owner: localOwner, taskId });
const mintTheirs = ({ engine }: Pick<Process, "engine">, id = taskId): Promise<TaskView> =>
  engine.createTask({ tool: "job", input: {}, owner: someone, taskId: id });

const taken = { code: "conflict", message: `another task has or had the ID ${taskId}`, data: { taskId } };
const notFound = { code: "not_found", message: "Task not found", data: undefined };

describe("an ID that a client minted", () => {
  it("is the one that its owner sees in every answer, and kept apart by owner in the store", async () => {
    const world = await open();
    const views = [await mint(world), await world.engine.readTask(taskId, mine)];
    await world.engine.followTask(taskId, mine, (view) => void views.push(view));
    views.push(...(await world.engine.listTasks(mine, {}, undefined, 10)).tasks);
    const wait = world.engine.waitForTask(taskId, mine, { until: "ended", timeoutMs: 60_000 });
    views.push(await world.engine.cancelTask(taskId, mine, stop));
    await world.clock.advance(1_000);
    views.push(await wait);
    expect(views.length).toBeGreaterThanOrEqual(7);
    for (const view of views) {
      expect(view.record.taskId).toBe(taskId);
      expect(view.isClientMinted).toBe(true);
      expect(JSON.stringify(view)).not.toContain("~");
    }
    expect(await world.record(internalId)).toMatchObject({ taskId: internalId, state: "cancelled", owner: "local" });
    expect(world.audited("task_created")).toMatchObject([{ taskId: internalId }]);
  });

  it("is taken by questions, answers, claims and results too", async () => {
    const world = await open();
    await mint(world);
    world.backend.of().ask({ name: "sure" });
    await world.clock.settle();
    const { questions } = (await world.engine.readTask(taskId, mine)).record;
    const key = questions[0]?.key ?? "none";
    const claimed = await world.engine.claimQuestion(taskId, mine, key, { by: "me", forMs: 1_000 });
    expect(claimed).toMatchObject({ outcome: "held" });
    await world.engine.releaseQuestion(taskId, mine, key, "me");
    expect((await world.record(internalId))?.questions[0]?.claim).toBeUndefined();
    const report = await world.engine.answerTask(taskId, mine, { [key]: { action: "accept" } });
    expect(report.accepted).toEqual([key]);
    world.backend.of().succeed("done");
    await world.clock.settle();
    const part = await world.engine.readOutput(taskId, mine, { offset: 0, length: 99 });
    expect(Buffer.from(part.bytes).toString()).toBe('"done"');
  });

  it("costs a poll one read, as does one that a server minted", async () => {
    let reads = 0;
    const world = await open({
      wrapStore: (store) => ({
        ...store,
        read: async (id) => {
          reads++;
          return store.read(id);
        },
      }),
    });
    await mint(world);
    const minted = (await startTask(world)).record.taskId;
    for (const id of [taskId, minted]) {
      await world.engine.readTask(id, mine);
      reads = 0;
      await world.engine.readTask(id, mine);
      expect(reads).toBe(1);
    }
  });

  it("never folds into another task, nor another call into its", async () => {
    const world = await open({ task: { dedupeWindowMs: 60_000 } });
    const first = await startTask(world);
    await mint(world);
    const second = await startTask(world);
    expect(second).toMatchObject({ record: { taskId: first.record.taskId }, isFolded: true, isClientMinted: false });
    expect(first).toMatchObject({ isFolded: false });
    await world.clock.advance(60_000);
    expect(await startTask(world)).toMatchObject({ isFolded: false, isClientMinted: false });
    expect(world.backend.starts()).toBe(3);
  });

  it("is named among the open tasks when a limit is met, and stays free when it was refused for one", async () => {
    const world = await open({ limits: { maxConcurrentTasksPerOwner: 1 } });
    await mint(world);
    const refused = { code: "limit_exceeded", data: { openTaskIds: [taskId] } };
    const again = { tool: "job", input: {}, owner: localOwner, taskId: "another" };
    await expect(world.engine.createTask(again)).rejects.toMatchObject(refused);
    await expect(mint(world)).rejects.toMatchObject(taken);
    world.backend.of().succeed();
    await world.clock.settle();
    await expect(world.engine.createTask(again)).resolves.toMatchObject({ record: { taskId: "another" } });
  });

  it.each([
    ["too long", "x".repeat(129), "got 129 characters"],
    ["huge", "x".repeat(10_000), "got 10000 characters"],
    ["empty", "", 'got ""'],
    ["a path", "../../etc/passwd", "got"],
    ["dots", "..", 'got ".."'],
    ["another's scope", `${scopeOf("local")}~x`, "got"],
    ["with control characters", "a\u0000\u001b[2J", "got"],
    ["with a line break at its end", "a\n", "got"],
    ["no ASCII", "tâche", "got"],
    ["no text", 7 as unknown as string, "got number"],
  ])("is refused when it is %s, and nothing is written", async (_what, id, got) => {
    const world = await open();
    const refused = attempted(world.engine.createTask({ tool: "job", input: {}, owner: localOwner, taskId: id }));
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", data: { path: "taskId" } });
    const { message } = (await refused.catch((error: unknown) => error)) as Error;
    expect(message).toContain(got);
    expect(message).toMatch(/^[ -~]{1,400}$/);
    expect((await world.engine.listTasks(operator, {}, undefined, 10)).tasks).toEqual([]);
  });

  it("needs an owner", async () => {
    const world = await open();
    const refused = world.engine.createTask({ tool: "job", input: {}, owner: null, taskId });
    await expect(refused).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("does not authenticate"),
    });
    await mint(world);
    for (const id of [taskId, internalId])
      await expect(world.engine.readTask(id, { owner: null })).rejects.toMatchObject(notFound);
  });
});

describe("a client that mints an ID and takes its call back", () => {
  it.each(["before the backend has answered", "when the backend never does"])(
    "has its task cancelled at once, %s",
    async (when) => {
      const world = await open({ task: { ackMs: 60_000 } });
      world.backend.faults.next("start", when.includes("never") ? { before: "hang" } : { delayMs: 5_000 });
      const giveUp = new AbortController();
      const options = { tool: "job", input: {}, owner: localOwner, taskId, signal: giveUp.signal };
      const creating = attempted(world.engine.createTask(options));
      await world.clock.settle();
      expect((await world.engine.readTask(taskId, mine)).record).toMatchObject({ state: "queued" });
      giveUp.abort();
      await expect(creating).rejects.toMatchObject({ code: "denied" });
      expect((await world.engine.readTask(taskId, mine)).record).toMatchObject({ state: "cancelled" });
      await world.clock.advance(120_000);
      expect((await world.engine.readTask(taskId, mine)).record).toMatchObject({ state: "cancelled" });
      expect(world.backend.executions.map(({ snapshot }) => snapshot.status)).not.toContain("running");
    },
  );
});

describe("the same ID again by the same owner", () => {
  it("is refused at once, whatever it asks for", async () => {
    const world = await open();
    await mint(world);
    await expect(mint(world)).rejects.toMatchObject(taken);
    await expect(mint(world, { other: 1 }, "other")).rejects.toMatchObject(taken);
    expect(world.backend.starts()).toBe(1);
  });

  it("starts one execution when it comes many times at once to several processes", async () => {
    const world = createWorld();
    const processes = [await world.boot(), await world.boot()];
    const attempts = Array.from({ length: 10 }, (_, index) => mint(processes[index % 2] as Process));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(taken);
    expect(world.backend.starts()).toBe(1);
  });

  it("starts one execution wherever the first process died", async () => {
    let survived = false;
    for (let count = 0; !survived; count++) {
      const world = createWorld({ adapter: { without: ["watch"] } });
      const first = await world.boot();
      first.killAfter(count);
      const work = attempted(mint(first));
      await world.clock.advance(3_000);
      survived = !first.isKilled;
      if (survived) await work;
      first.kill();
      const second = await world.boot();
      const outcomes = await Promise.allSettled([mint(second), mint(second)]);
      await world.clock.advance(120_000);
      await expect(mint(second)).rejects.toMatchObject(taken);
      expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
      expect([count, world.backend.starts()]).toEqual([count, 1]);
      expect((await second.engine.readTask(taskId, mine)).record).toMatchObject({ state: "running" });
      expect(count).toBeLessThan(100);
    }
  });

  const endings: Readonly<Record<string, (world: Awaited<ReturnType<typeof open>>) => Promise<void>>> = {
    succeeded: async ({ backend }) => backend.of().succeed(),
    "was cancelled": async ({ engine }) => void (await engine.cancelTask(taskId, mine, stop)),
    expired: async ({ backend, clock }) => {
      backend.faults.always("forget", { before: { code: "throttled", retryAfterMs: 60_000 } });
      backend.of().succeed();
      await clock.advance(60_000);
    },
    "was purged": async ({ backend, clock }) => {
      backend.of().succeed();
      await clock.advance(70_000);
    },
    "was deleted": ({ engine }) => engine.deleteTask(taskId, mine),
  };

  it.each(Object.entries(endings))("starts nothing after its task %s", async (_how, end) => {
    const world = await open({ task: { retentionMs: 50_000 } });
    await mint(world);
    await end(world);
    await world.clock.settle();
    await expect(mint(world)).rejects.toMatchObject(taken);
    const next = await world.boot();
    await expect(mint(next)).rejects.toMatchObject(taken);
    expect(world.backend.starts()).toBe(1);
  });

  it("starts nothing after its start was refused", async () => {
    const world = await open();
    world.backend.faults.next("start", { before: "denied" });
    await expect(mint(world)).rejects.toMatchObject({ code: "denied" });
    await expect(world.engine.readTask(taskId, mine)).rejects.toMatchObject(notFound);
    await expect(mint(world)).rejects.toMatchObject(taken);
    expect(world.backend.starts()).toBe(0);
  });

  it("is free again when tombstoneMs have passed since its task was gone", async () => {
    const world = await open({ limits: { tombstoneMs: 100_000 } });
    await mint(world);
    await world.clock.advance(200_000);
    await world.engine.deleteTask(taskId, mine);
    await world.clock.advance(99_000);
    await expect(mint(world)).rejects.toMatchObject(taken);
    await world.clock.advance(2_000);
    await expect(mint(world)).resolves.toMatchObject({ record: { taskId, state: "running" } });
  });

  it("may be tried again when the first call was wrong: no task came of it", async () => {
    const world = await open({ tool: { input: { type: "object", required: ["size"] } } });
    await expect(mint(world)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(mint(world, { size: 1 })).resolves.toMatchObject({ record: { taskId } });
  });
});

describe("the same ID by two owners", () => {
  it("is two tasks, of which neither owner sees the other's", async () => {
    const world = await open();
    const before = await mint(world);
    await mintTheirs(world);
    await world.engine.deleteTask(taskId, theirs);
    await world.clock.advance(5_000);
    await expect(mintTheirs(world)).rejects.toMatchObject(taken);
    await expect(world.engine.readTask(taskId, theirs)).rejects.toMatchObject(notFound);
    expect((await world.engine.readTask(taskId, mine)).record).toMatchObject({
      state: "running",
      startKey: before.record.startKey,
    });
    expect(world.backend.executions.map(({ snapshot }) => snapshot.status)).toEqual(["running", "cancelled"]);
  });

  it("cannot be reached by the name that the store has for it", async () => {
    const world = await open();
    await mint(world);
    for (const access of [mine, theirs])
      await expect(world.engine.readTask(internalId, access)).rejects.toMatchObject(notFound);
  });

  it("may be one that a server minted for the other", async () => {
    const world = await open();
    const { record } = await startTask(world);
    expect((await mintTheirs(world, record.taskId)).record.taskId).toBe(record.taskId);
    await world.engine.cancelTask(record.taskId, theirs, { reason: "enough", latch: true });
    expect((await world.engine.readTask(record.taskId, theirs)).record).toMatchObject({ owner: someone });
    expect((await world.engine.readTask(record.taskId, mine)).record).toMatchObject({ state: "running" });
    await world.engine.deleteTask(record.taskId, theirs);
    await world.clock.advance(1_000);
    await expect(world.engine.readTask(record.taskId, theirs)).rejects.toMatchObject(notFound);
    expect(await world.record(record.taskId)).toMatchObject({ state: "running", owner: "local" });
  });

  it("is a conflict when a server minted it for the same one", async () => {
    const world = await open();
    const { record } = await world.engine.createTask({ tool: "job", input: {}, owner: someone });
    await expect(mintTheirs(world, record.taskId)).rejects.toMatchObject({
      code: "conflict",
      data: { taskId: record.taskId },
    });
    expect(world.backend.starts()).toBe(1);
  });
});

describe("the operator", () => {
  it("sees and says IDs with their owners' scopes", async () => {
    const world = await open();
    await mint(world);
    await world.clock.advance(1);
    await mintTheirs(world);
    const { tasks } = await world.engine.listTasks(operator, {}, undefined, 10);
    const ids = tasks.map(({ record }) => record.taskId);
    expect(ids).toEqual([`${scopeOf(someone)}~${taskId}`, internalId]);
    for (const id of ids) {
      expect((await world.engine.readTask(id, operator)).record.taskId).toBe(id);
      expect((await world.engine.explainTask(id)).record.taskId).toBe(id);
    }
    await world.engine.cancelTask(asTaskId(ids[0] as string), operator, stop);
    await world.clock.advance(1_000);
    expect((await world.engine.readTask(taskId, theirs)).record.state).toBe("cancelled");
  });

  it("may leave the scope out, which means the local owner's first", async () => {
    const world = await open();
    await mint(world);
    await mintTheirs(world);
    expect((await world.engine.readTask(taskId, operator)).record.taskId).toBe(internalId);
    expect((await world.engine.explainTask(taskId)).record.taskId).toBe(internalId);
  });

  it("finds and answers another owner's task by the ID that this owner knows, among many", async () => {
    const world = await open({ limits: { maxConcurrentTasksPerOwner: 1_000 } });
    await mintTheirs(world, "theirs");
    world.backend.of().ask({ name: "sure" });
    await world.clock.settle();
    for (let count = 0; count < 120; count++) await startTask(world);
    const { record } = await world.engine.readTask("theirs", operator);
    expect(record.taskId).toBe(`${scopeOf(someone)}~theirs`);
    const key = record.questions[0]?.key ?? "none";
    const { accepted } = await world.engine.answerTask("theirs", operator, { [key]: { action: "accept" } });
    expect(accepted).toEqual([key]);
    await expect(world.engine.readTask("nobodys", operator)).rejects.toMatchObject(notFound);
  });

  it("has to say which of several owners' it means", async () => {
    const world = await open();
    const other = asOwnerId("https://idp.example|other");
    await mintTheirs(world, "same");
    await world.engine.createTask({ tool: "job", input: {}, owner: other, taskId: "same" });
    const taskIds = [someone, other].map((owner) => `${scopeOf(owner)}~same`);
    const refused = await world.engine.readTask("same", operator).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "conflict", data: { taskIds: expect.arrayContaining(taskIds) } });
    for (const id of taskIds) expect((await world.engine.readTask(id, operator)).record.taskId).toBe(id);
  });
});
