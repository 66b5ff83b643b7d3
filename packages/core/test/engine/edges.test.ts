import { describe, expect, it } from "@jest/globals";
import { asExecutionRef, BridgeError, type JsonObject } from "../../src/adapter.ts";
import { createTaskEngine } from "../../src/index.ts";
import type { TaskStore } from "../../src/store.ts";
import { createWorld, mine, startTask, stop } from "./harness.ts";

const atMostOnce = { traits: { start: { kind: "at-most-once" } } } as const;

describe("a start", () => {
  it("that is refused for its rate is sent again, also to a backend that may not get it twice", async () => {
    const world = createWorld({ adapter: atMostOnce });
    const process = await world.boot();
    world.backend.faults.next("start", { before: { code: "throttled", retryAfterMs: 3_000 } });
    const { record } = await startTask(process);
    await world.clock.advance(10_000);
    expect((await world.record(record.taskId))?.ref).toBeDefined();
    expect(world.backend.starts()).toBe(1);
  });

  it("waits for an adapter that has left the configuration, but not beyond its deadline", async () => {
    const world = createWorld({ task: { startDeadlineMs: 120_000 } });
    const first = await world.boot();
    first.killAfter(2);
    first.engine.createTask({ tool: "job", input: {}, owner: null }).catch(() => undefined);
    await world.clock.advance(1_000);
    const [orphan] = (await world.store.list({ operator: true }, {}, undefined, 1)).records;
    await world.boot({ adapters: {}, tools: [] });
    await world.clock.advance(100_000);
    expect(await world.record(String(orphan?.taskId))).toMatchObject({ state: "queued", slotHeld: true });
    await world.clock.advance(30_000);
    expect(await world.record(String(orphan?.taskId))).toMatchObject({
      state: "failed",
      slotHeld: false,
      failure: { kind: "protocol", reason: "adapters.fake: no such adapter is configured any more" },
    });
    expect(world.audited("internal_error")).toEqual([]);
  });
});

describe("an answer to the start that comes after it was given up", () => {
  it("is not lost: an execution that nobody wants any more is stopped", async () => {
    const world = createWorld({ adapter: atMostOnce, limits: { callTimeoutMs: 5_000 } });
    const deaf = new AbortController().signal;
    const start = world.backend.connect();
    const late = {
      ...start,
      start: async (...[request, context]: Parameters<typeof start.start>) => {
        await new Promise<void>((resolve) => void world.clock.schedule(20_000, resolve));
        return start.start(request, { ...context, signal: deaf });
      },
    };
    const process = await world.boot({ adapters: { fake: late } });
    const starting = startTask(process);
    await world.clock.advance(3_000);
    const { record } = await starting;
    await world.clock.advance(10_000);
    expect(await world.record(record.taskId)).toMatchObject({ state: "failed", failure: { code: "start_unknown" } });
    await world.clock.advance(15_000);
    expect(world.backend.starts()).toBe(1);
    expect(world.backend.of().cancels).toHaveLength(1);
    expect(await world.record(record.taskId)).toMatchObject({
      state: "failed",
      ref: world.backend.of().ref,
      slotHeld: false,
    });
  });
});

describe("news by our key", () => {
  it("that tells only a newer ref leads to a look, which says whether that is so", async () => {
    const world = createWorld({ adapter: { evolvingRefs: true, startsAs: "queued" } });
    const process = await world.boot();
    const { record } = await startTask(process);
    const { ref } = world.backend.of();
    world.backend.events.send({ key: record.startKey, ref: asExecutionRef('{"run":"newer"}') });
    await world.clock.settle();
    expect((await world.record(record.taskId))?.ref).toBe(ref);
    world.backend.events.hold();
    world.backend.of().run();
    const newer = world.backend.of().ref;
    expect(newer).not.toBe(ref);
    world.backend.events.send({ key: record.startKey, ref: newer });
    await world.clock.settle();
    expect((await world.record(record.taskId))?.ref).toBe(newer);
  });
});

describe("a question whose schema is unusable", () => {
  it("can still be answered: the job gets the content unchecked", async () => {
    const world = createWorld();
    const process = await world.boot();
    const { record } = await startTask(process);
    world.backend.of().ask({ message: "Go?", schema: { type: "objekt" } });
    const { record: asked } = await process.engine.waitForTask(record.taskId, mine, {
      until: "attention",
      timeoutMs: 1_000,
    });
    const key = String(asked.questions[0]?.key);
    await process.engine.answerTask(record.taskId, mine, { [key]: { action: "accept", content: { any: "thing" } } });
    await world.clock.settle();
    expect(world.backend.of().answers).toMatchObject([{ action: "accept", content: { any: "thing" } }]);
  });
});

describe("a result that the store cannot keep", () => {
  const full = (isFull: () => boolean) => ({
    wrapStore: (store: TaskStore): TaskStore => ({
      ...store,
      putPayload: async (taskId, name, offset, bytes) => {
        if (isFull() && offset > 0) {
          throw new BridgeError("unavailable", "/srv/tasks.db cannot grow", { operation: "putPayload" });
        }
        return store.putPayload(taskId, name, offset, bytes);
      },
    }),
    adapter: { outputChunkBytes: 100 },
  });

  it("is told, without the file's name, holds nothing meanwhile, and is kept once there is room", async () => {
    let isFull = true;
    const world = createWorld(full(() => isFull));
    const process = await world.boot();
    const { record } = await startTask(process);
    world.backend.of().succeedWithStream("x".repeat(250));
    await world.clock.advance(60_000);
    const waiting = await world.record(record.taskId);
    expect(waiting).toMatchObject({
      state: "running",
      message: expect.stringMatching(
        /^it has succeeded, but its result is not kept yet: the server cannot use its store of tasks at present/,
      ),
    });
    for (let attempt = 1; attempt < 20; attempt++) {
      const copy = await world.store.readPayload(record.taskId, `output:${attempt}`, { offset: 0, length: 1 });
      expect(copy).toBeUndefined();
    }
    isFull = false;
    await world.clock.advance(600_000);
    expect(await world.record(record.taskId)).toMatchObject({ state: "succeeded", output: { bytes: 250 } });
  });

  it("fails the task in the end, and does not keep its owner waiting for ever", async () => {
    const world = createWorld(full(() => true));
    const process = await world.boot();
    const { record } = await startTask(process);
    world.backend.of().succeedWithStream("x".repeat(250));
    await world.clock.advance(3 * 3_600_000);
    expect(await world.record(record.taskId)).toMatchObject({
      state: "failed",
      failure: { kind: "protocol", code: "result_unavailable", reason: expect.not.stringContaining("/srv") },
    });
  });
});

describe("arguments nested too deeply to be written", () => {
  it("are the caller's fault, and start nothing", async () => {
    const world = createWorld();
    const process = await world.boot();
    let deep: JsonObject = {};
    for (let level = 0; level < 200_000; level++) deep = { deep };
    await expect(startTask(process, deep)).rejects.toMatchObject({
      code: "invalid_input",
      data: { path: "arguments" },
    });
    expect(world.backend.starts()).toBe(0);
  });
});

describe("an engine that runs nothing by itself", () => {
  const open = () => {
    const world = createWorld();
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { ackMs: 0 } }];
    const adapters = { fake: world.backend.connect() };
    return { ...world, engine: createTaskEngine({ store: world.store, clock: world.clock, adapters, tools }) };
  };

  it("still sends a stop that had to wait for the start to be accepted", async () => {
    const world = open();
    world.backend.faults.next("start", { answerDelayMs: 1_000 });
    const starting = startTask(world);
    await world.clock.advance(0);
    const { record } = await starting;
    await world.engine.cancelTask(record.taskId, mine, stop);
    expect(world.backend.of().cancels).toEqual([]);
    await world.clock.advance(1_000);
    expect(world.backend.of().cancels).toEqual([stop.reason]);
  });

  it("sends a stop again when it is asked for again and the last attempt failed", async () => {
    const world = open();
    const starting = startTask(world);
    await world.clock.advance(0);
    const { record } = await starting;
    world.backend.faults.next("cancel", { before: "unavailable" });
    await world.engine.cancelTask(record.taskId, mine, stop);
    await world.clock.advance(60_000);
    expect(world.backend.of().cancels).toEqual([]);
    await world.engine.cancelTask(record.taskId, mine, stop);
    await world.clock.settle();
    expect(world.backend.of().cancels).toEqual([stop.reason]);
  });
});

describe("an adapter that tells what is no snapshot", () => {
  it.each([
    [{ status: "succeeded", output: { ok: true } }, "output must be"],
    [{ status: "done" }, 'status is "done"'],
    [{ status: "failed", failure: "broken" }, "failure must have"],
    [{ status: "waiting", questions: [{ key: "approve" }] }, "questions must each have"],
  ])("is named, with what is wrong with %j, and the record stays as it was", async (reported, fault) => {
    const world = createWorld({ adapter: { without: ["watch"] } });
    const process = await world.boot();
    const { record } = await startTask(process);
    world.backend.of().nextInspect({ snapshot: reported } as never, 100);
    await world.clock.advance(5_000);
    const reading = process.engine.readTask(record.taskId, mine);
    await world.clock.advance(2_000);
    expect((await reading).record.state).toBe("running");
    const { lastInspectError } = await process.engine.explainTask(record.taskId);
    expect(lastInspectError).toContain("[fake] bad_response: the adapter gave an unusable snapshot: ");
    expect(lastInspectError).toContain(fault);
  });
});
