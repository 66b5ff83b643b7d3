import { describe, expect, it } from "@jest/globals";
import { localOwner } from "../../../src/index.ts";
import { attempted, mine, startTask, stop } from "../harness.ts";
import { internalId, mint, notFound, open, operator, scopeOf, taken, taskId } from "./client-minting.ts";

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
    expect(second).toMatchObject({
      record: { taskId: first.record.taskId },
      isDeduplicated: true,
      isClientMinted: false,
    });
    expect(first).toMatchObject({ isDeduplicated: false });
    await world.clock.advance(60_000);
    expect(await startTask(world)).toMatchObject({ isDeduplicated: false, isClientMinted: false });
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
