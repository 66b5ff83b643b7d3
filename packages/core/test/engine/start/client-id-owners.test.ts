import { describe, expect, it } from "@jest/globals";
import { asOwnerId, asTaskId } from "../../../src/index.ts";
import { mine, startTask, stop } from "../harness.ts";
import {
  internalId,
  mint,
  mintTheirs,
  notFound,
  open,
  operator,
  scopeOf,
  someone,
  taken,
  taskId,
  theirs,
} from "./client-minting.ts";

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
    await world.engine.cancelTask(record.taskId, theirs, { reason: "enough", isFinal: true });
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
