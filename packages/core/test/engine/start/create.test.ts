import { describe, expect, it } from "@jest/globals";
import { asOwnerId, BridgeError } from "../../../src/index.ts";
import { attempted, createWorld, mine, startTask, stop, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  return { ...world, ...(await world.boot()) };
};

describe("creating a task", () => {
  it("hands out a task that can be read, its execution started once with the exact input", async () => {
    const world = await open();
    const { record } = await startTask(world, { b: 1, a: "x" });
    expect(record).toMatchObject({ state: "running", tool: "job", owner: "local", effects: [], slotHeld: true });
    expect(record.ref).toBe(world.backend.of().ref);
    expect(world.backend.of()).toMatchObject({
      key: record.startKey,
      input: '{"b":1,"a":"x"}',
      target: { run: "job" },
    });
    expect((await world.engine.readTask(record.taskId, mine)).record).toEqual(await world.record(record.taskId));
    expect(Buffer.from(record.taskId, "base64url").length * 8).toBeGreaterThanOrEqual(128);
    expect(record.startKey).toMatch(/^mcp-[0-9a-f]{32}$/);
  });

  it("fills the text for the model with the call's arguments, and starts nothing without one that it needs", async () => {
    const world = await open({ task: { immediateResponse: "Encoding {{input.file}}." } });
    const call = (input: Readonly<Record<string, string>>) =>
      world.engine.createTask({ tool: "job", input, owner: asOwnerId("local") });
    expect(await call({ file: "a.mov" })).toMatchObject({ immediateResponse: "Encoding a.mov." });
    const error = { code: "invalid_input", data: { path: "file" } };
    await expect(call({})).rejects.toMatchObject(error);
    expect(world.backend.starts()).toBe(1);
    expect(await world.engine.createTask({ tool: "other", input: {}, owner: asOwnerId("local") })).not.toHaveProperty(
      "immediateResponse",
    );
  });

  it("keeps whose call it was, and refuses what would not fit into a record", async () => {
    const world = await open();
    const { record } = await startTask(world, {}, { origin: "session-1/request-2" });
    expect((await world.record(record.taskId))?.origin).toBe("session-1/request-2");
    expect((await startTask(world)).record).not.toHaveProperty("origin");
    for (const origin of ["", "x".repeat(65), 'a"b', "a b", "ä"]) {
      const error = { code: "invalid_input", data: { path: "origin" } };
      await expect(startTask(world, {}, { origin })).rejects.toMatchObject(error);
    }
    expect(world.backend.starts()).toBe(2);
  });

  it("writes the whole record before anything is sent", async () => {
    const seen: unknown[] = [];
    const world = await open({
      wrapStore: (store) => ({
        ...store,
        create: async (record, options) => {
          seen.push([world.backend.callsOf("start").length, record.start.firstSentAt, options.payloads[0]?.name]);
          return store.create(record, options);
        },
      }),
    });
    const { record } = await startTask(world);
    expect(seen).toEqual([[0, record.createdAt, "input"]]);
  });

  it.each([
    ["a wrong type", "job", { size: "big" }, "size", /size: must be number/],
    ["a missing member", "job", {}, "arguments", /required property 'size'/],
    ["an unknown member", "job", { size: 1, extra: 1 }, "arguments", /extra/],
    ["no object", "job", [1], "arguments", /object/],
    ["an unknown tool", "nothing", {}, "name", /Unknown tool: nothing/],
    ["a value that the target needs and nobody gave", "other", {}, "file", /file/],
    ["too much", "job", { size: 1, text: "x".repeat(300) }, "arguments", /bytes are more than the 200/],
  ])("refuses %s, naming its path, and leaves nothing", async (_what, tool, input, path, message) => {
    const schema = {
      type: "object",
      properties: { size: { type: "number" }, text: { type: "string" } },
      required: ["size"],
      additionalProperties: false,
    };
    const world = createWorld({ adapter: { traits: { maxPayloadBytes: 200 } } });
    const tools = [
      { name: "job", adapter: "fake", target: { run: "job" }, input: schema },
      { name: "other", adapter: "fake", target: { run: "{{input.file}}" } },
    ];
    const { engine } = await world.boot({ tools });
    const refused = engine.createTask({ tool, input, owner: asOwnerId("local") });
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", data: { path } });
    await expect(refused).rejects.toThrow(message);
    expect((await engine.listTasks(mine, {}, undefined, 10)).tasks).toEqual([]);
    expect(world.backend.callsOf("start")).toEqual([]);
  });

  it("gives a handle within ackMs while the start hangs, and the start completes later (case 6)", async () => {
    const world = await open({ task: { ackMs: 2_000 }, adapter: { without: ["watch"] } });
    world.backend.faults.next("start", { answerDelayMs: 20_000 });
    const pending = startTask(world);
    await world.clock.advance(1_999);
    const early = await Promise.race([pending, Promise.resolve("none yet")]);
    expect(early).toBe("none yet");
    await world.clock.advance(1);
    const { record } = await pending;
    expect(record).toMatchObject({ state: "queued" });
    expect((await world.engine.readTask(record.taskId, mine)).record.ref).toBeUndefined();
    await world.clock.advance(18_000);
    expect((await world.engine.readTask(record.taskId, mine)).record.ref).toBe(world.backend.of().ref);
    expect(world.backend.starts()).toBe(1);
  });

  it("answers with the reason when the backend refuses at once, and leaves no task and no slot", async () => {
    const world = await open({ limits: { maxConcurrentTasksPerOwner: 1 } });
    world.backend.faults.next("start", { before: { code: "denied", message: "no permission to run" } });
    await expect(startTask(world)).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("no permission"),
    });
    expect((await world.engine.listTasks(mine, {}, undefined, 10)).tasks).toEqual([]);
    expect(world.audited("start_refused")).toHaveLength(1);
    await expect(startTask(world)).resolves.toMatchObject({ record: { state: "running" } });
  });

  it("fails a task with start_refused when the refusal comes after its handle", async () => {
    const world = await open();
    world.backend.faults.next("start", { delayMs: 5_000, before: { code: "denied", message: "no permission" } });
    const pending = startTask(world);
    await world.clock.advance(5_000);
    const { record } = await pending;
    expect((await world.engine.readTask(record.taskId, mine)).record).toMatchObject({
      state: "failed",
      failure: { kind: "protocol", code: "start_refused", reason: expect.stringContaining("no permission") },
      slotHeld: false,
      effects: [],
    });
  });

  it("folds equal calls within the window into one task, others not", async () => {
    const world = await open({ task: { dedupeWindowMs: 10_000 } });
    const { record } = await startTask(world, { a: 1 });
    expect((await startTask(world, { a: 1 })).record.taskId).toBe(record.taskId);
    expect((await startTask(world, { a: 2 })).record.taskId).not.toBe(record.taskId);
    const someone = world.engine.createTask({ tool: "job", input: { a: 1 }, owner: asOwnerId("someone") });
    expect((await someone).record.taskId).not.toBe(record.taskId);
    await world.clock.advance(10_000);
    expect((await startTask(world, { a: 1 })).record.taskId).not.toBe(record.taskId);
    expect(world.backend.starts()).toBe(4);
  });

  it("never folds a call into a task that then turns out refused", async () => {
    const world = await open({ task: { dedupeWindowMs: 10_000 } });
    world.backend.faults.next("start", { delayMs: 1_000, before: "denied" });
    const first = attempted(startTask(world));
    await world.clock.settle();
    const second = attempted(startTask(world));
    await world.clock.advance(3_000);
    await expect(first).rejects.toMatchObject({ code: "denied" });
    const { record } = await second;
    await expect(world.engine.readTask(record.taskId, mine)).resolves.toMatchObject({ record: { state: "running" } });
  });

  it("never folds a call into a task that is being stopped", async () => {
    const world = await open({ task: { dedupeWindowMs: 10_000 } });
    const { record } = await startTask(world);
    await world.engine.cancelTask(record.taskId, mine, stop);
    expect((await startTask(world)).record.taskId).not.toBe(record.taskId);
  });
});

describe("limits", () => {
  it("refuses an owner who is full, naming only that owner's tasks and when to try again", async () => {
    const world = await open({ limits: { maxConcurrentTasksPerOwner: 1 } });
    const foreign = await world.engine.createTask({ tool: "job", input: {}, owner: asOwnerId("someone") });
    const { record } = await startTask(world);
    const refused = startTask(world);
    await expect(refused).rejects.toMatchObject({
      code: "limit_exceeded",
      retryAfterMs: 2_000,
      data: { scope: "owner", openTaskIds: [record.taskId], retryAfterMs: 2_000 },
    });
    await expect(refused).rejects.toThrow("maxConcurrentTasksPerOwner (1)");
    expect(JSON.stringify(await refused.catch((error) => error.data))).not.toContain(foreign.record.taskId);
  });

  it("refuses a tool that is full without telling whose tasks fill it", async () => {
    const world = await open({ task: { maxConcurrent: 1 } });
    const { record } = await world.engine.createTask({ tool: "job", input: {}, owner: asOwnerId("someone") });
    const refused = startTask(world);
    await expect(refused).rejects.toMatchObject({ code: "limit_exceeded", data: { scope: "tool" } });
    await expect(refused).rejects.toThrow("maxConcurrent (1)");
    expect(JSON.stringify(await refused.catch((error) => error.data))).not.toContain(record.taskId);
    await expect(startTask(world, {}, { tool: "other" })).resolves.toBeDefined();
  });

  it.each([["local"], [null]])("looks at the open tasks of owner %s again before refusing", async (name) => {
    const world = await open({ limits: { maxConcurrentTasksPerOwner: 1 }, adapter: { without: ["watch"] } });
    const owner = name === null ? null : asOwnerId(name);
    await world.engine.createTask({ tool: "job", input: {}, owner });
    world.backend.of().succeed();
    await expect(world.engine.createTask({ tool: "job", input: {}, owner })).resolves.toBeDefined();
  });

  it("looks at a full tool's tasks again before refusing", async () => {
    const world = await open({ task: { maxConcurrent: 1 }, adapter: { without: ["watch"] } });
    await world.engine.createTask({ tool: "job", input: {}, owner: asOwnerId("someone") });
    world.backend.of().succeed();
    await expect(startTask(world)).resolves.toBeDefined();
  });

  it("takes nothing back that the store took after it had been away and then full", async () => {
    const outcomes: string[] = [];
    const world = await open({
      limits: { maxConcurrentTasksPerOwner: 1 },
      adapter: { without: ["watch"] },
      wrapStore: (store) => ({
        ...store,
        create: async (record, options) => {
          const tries = outcomes.push("unavailable");
          if (tries === 2) throw new BridgeError("unavailable", "the store is away");
          // Nobody but who wants room has looked since.
          if (tries === 3) world.backend.of().succeed();
          const created = await store.create(record, options).catch((error: unknown) => {
            outcomes[tries - 1] = (error as BridgeError).code;
            throw error;
          });
          outcomes[tries - 1] = "created";
          return created;
        },
      }),
    });
    await startTask(world);
    const call = startTask(world);
    await world.clock.advance(200);
    const { record } = await call;
    expect(outcomes).toEqual(["created", "unavailable", "limit_exceeded", "created"]);
    await world.clock.advance(60_000);
    expect(await world.record(record.taskId)).toMatchObject({ state: "running" });
    expect(world.backend.of().cancels).toEqual([]);
  });
});

describe("a caller that is gone before the answer (case 13)", () => {
  it("starts nothing when it was gone before", async () => {
    const world = await open();
    await expect(startTask(world, {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "denied" });
    expect(world.backend.callsOf("start")).toEqual([]);
    expect((await world.engine.listTasks(mine, {}, undefined, 10)).tasks).toEqual([]);
  });

  it.each([
    ["is stopped when it goes during the start", 0],
    ["is stopped when it goes during the write", 1],
  ])("its execution %s", async (_when, atWrite) => {
    const gone = new AbortController();
    const world = await open({
      wrapStore: (store) => ({
        ...store,
        create: async (record, options) => {
          if (atWrite) gone.abort();
          return store.create(record, options);
        },
      }),
    });
    world.backend.faults.next("start", { answerDelayMs: 1_000 });
    const pending = attempted(startTask(world, {}, { signal: gone.signal }));
    await world.clock.settle();
    gone.abort();
    await world.clock.settle();
    await expect(pending).rejects.toMatchObject({ code: "denied" });
    await world.clock.advance(10_000);
    expect(world.backend.of().snapshot.status).toBe("cancelled");
    const [{ record } = { record: undefined }] = (await world.engine.listTasks(mine, {}, undefined, 10)).tasks;
    expect(record).toMatchObject({ state: "cancelled", slotHeld: false });
  });

  it("leaves the task alone when it goes after the answer", async () => {
    const gone = new AbortController();
    const world = await open();
    const { record } = await startTask(world, {}, { signal: gone.signal });
    gone.abort();
    await world.clock.advance(10_000);
    expect((await world.engine.readTask(record.taskId, mine)).record.state).toBe("running");
    expect(world.backend.callsOf("cancel")).toEqual([]);
  });
});
