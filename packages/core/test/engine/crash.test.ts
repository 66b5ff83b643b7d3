import { describe, expect, it } from "@jest/globals";
import type { StartPromise } from "../../src/adapter.ts";
import type { TaskRecord } from "../../src/index.ts";
import {
  createWorld,
  finalStop,
  mine,
  type Process,
  startTask,
  stop,
  type World,
  type WorldOptions,
} from "./harness.ts";

interface Crash {
  readonly options: WorldOptions;
  /** Before the crash can happen; the ID of the task, if there is one by then. */
  readonly before?: (world: World, process: Process) => Promise<string | undefined>;
  /** The process dies somewhere within this. */
  readonly during: (world: World, process: Process, taskId: string) => Promise<unknown>;
  /** What must hold after another process has had its time. */
  readonly after: (world: World, record: TaskRecord | undefined, process: Process) => Promise<void> | void;
}

/** Does the same again and again, killing the process one await later each time, until it survives. */
const crashEverywhere = async ({ options, before, during, after }: Crash): Promise<number> => {
  for (let count = 0; ; count++) {
    const world = createWorld(options);
    const first = await world.boot();
    const taskId = (await before?.(world, first)) ?? "";
    first.killAfter(count);
    const work = during(world, first, taskId).catch(() => {});
    await world.clock.advance(3_000);
    const survived = !first.isKilled;
    if (survived) await work;
    first.kill();
    const second = await world.boot();
    await world.clock.advance(120_000);
    const { records } = await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10);
    expect(records.length).toBeLessThanOrEqual(1);
    await after(world, records[0], second);
    expect(world.audited("internal_error")).toEqual([]);
    if (!survived) continue;
    expect(count).toBeGreaterThanOrEqual(6);
    return count;
  }
};

const create = async (_world: World, process: Process): Promise<string> => (await startTask(process)).record.taskId;

const starting = (start: StartPromise, task: WorldOptions["task"] = {}): WorldOptions => ({
  task,
  adapter: {
    traits: { start },
    without: start.kind === "findable" ? ["watch"] : ["watch", "find"],
    findableAfterMs: start.kind === "findable" ? start.visibilityDelayMs : 0,
  },
});

const isWhole = (world: World, record: TaskRecord | undefined): void => {
  expect(record).toMatchObject({ state: "running", ref: world.backend.of().ref, effects: [], slotHeld: true });
  expect(world.backend.starts()).toBe(1);
};

describe("killed at any await while creating a task", () => {
  it.each([
    ["idempotent", { kind: "idempotent", forMs: null }],
    ["idempotent for five minutes", { kind: "idempotent", forMs: 300_000 }],
  ] as const)("an %s backend runs it once, whenever the record was written", async (_what, promise) => {
    const awaits = await crashEverywhere({
      options: starting(promise),
      during: create,
      after: (world, record) =>
        record === undefined ? expect(world.backend.starts()).toBe(0) : isWhole(world, record),
    });
    expect(awaits).toBeGreaterThanOrEqual(8);
  });

  it("a findable backend runs it at most once, and what it runs is found", async () => {
    const awaits = await crashEverywhere({
      options: starting({ kind: "findable", visibilityDelayMs: 5_000, windowMs: 600_000 }),
      during: create,
      after: (world, record) => {
        if (world.backend.starts() > 0) isWhole(world, record);
        else if (record !== undefined)
          expect(record).toMatchObject({
            state: "failed",
            failure: { code: "start_unknown" },
            slotHeld: false,
            effects: [],
          });
      },
    });
    expect(awaits).toBeGreaterThanOrEqual(8);
  });

  it("an at-most-once backend runs it at most once, and the task says when nobody can know", async () => {
    await crashEverywhere({
      options: starting({ kind: "at-most-once" }),
      during: create,
      after: (world, record) => {
        expect(world.backend.starts()).toBeLessThanOrEqual(1);
        if (record === undefined) expect(world.backend.starts()).toBe(0);
        else if (record.ref === undefined)
          expect(record).toMatchObject({
            state: "failed",
            failure: { code: "start_unknown" },
            slotHeld: false,
            effects: [],
          });
        else isWhole(world, record);
      },
    });
  });

  it("a tool that may be restarted always ends up running", async () => {
    await crashEverywhere({
      options: starting({ kind: "at-most-once" }, { onUnknownStart: "restart" }),
      during: create,
      after: (world, record) => {
        if (record !== undefined) expect(record).toMatchObject({ state: "running", effects: [] });
        expect(world.backend.starts()).toBeLessThanOrEqual(2);
      },
    });
  });

  it("what was frozen at the call is sent, whatever the configuration says by then", async () => {
    const world = createWorld(starting({ kind: "idempotent", forMs: null }));
    const first = await world.boot();
    world.backend.faults.next("start", { before: "hang" });
    void startTask(first, { size: 1 });
    await world.clock.settle();
    first.kill();
    await world.boot({ tools: [{ name: "job", adapter: "fake", target: { run: "edited" } }] });
    await world.clock.advance(60_000);
    expect(world.backend.of()).toMatchObject({ target: { run: "job" }, input: '{"size":1}' });
  });
});

describe("killed at any await while stopping (case 11)", () => {
  it.each([
    ["acknowledged", stop, "confirmed"],
    ["cancelled at once", finalStop, "confirmed"],
    ["acknowledged by a backend that stops when it likes", stop, "requested"],
  ] as const)("a stop that was %s still reaches the backend", async (_what, how, cancel) => {
    await crashEverywhere({
      options: { adapter: { traits: { cancel }, without: ["watch"], onCancel: (execution) => execution.stop() } },
      before: create,
      during: (_world, { engine }, taskId) => engine.cancelTask(taskId, mine, how),
      after: (world, record) => {
        const wasWritten = record?.cancel !== undefined;
        expect(world.backend.of().snapshot.status).toBe(wasWritten ? "cancelled" : "running");
        expect(record).toMatchObject({
          state: wasWritten ? "cancelled" : "running",
          effects: [],
          slotHeld: !wasWritten,
        });
      },
    });
  });

  it("a run that took too long is stopped and failed, never half", async () => {
    await crashEverywhere({
      options: { task: { maxRunMs: 5_000 }, adapter: { without: ["watch"] } },
      before: create,
      during: (world) => world.clock.advance(5_000),
      after: (world, record) => {
        expect(world.backend.of().snapshot.status).toBe("cancelled");
        expect(record).toMatchObject({ state: "failed", failure: { code: "max_run" }, slotHeld: false, effects: [] });
      },
    });
  });
});

describe("killed at any await while answering", () => {
  it("an answer that was taken arrives, under one answerId, and has its effect once", async () => {
    await crashEverywhere({
      options: {},
      before: async (world, process) => {
        const taskId = await create(world, process);
        world.backend.of().ask();
        await world.clock.settle();
        return taskId;
      },
      during: (_world, { engine }, taskId) =>
        engine.answerTask(taskId, mine, { q2: { action: "accept", content: { ok: true } } }),
      after: (world, record) => {
        const wasWritten = record?.questions[0]?.state !== "open";
        expect(world.backend.of().answers).toHaveLength(wasWritten ? 1 : 0);
        if (wasWritten) expect(world.backend.of().answers[0]?.content).toEqual({ ok: true });
        expect(record).toMatchObject({ state: wasWritten ? "running" : "waiting", effects: [] });
      },
    });
  });
});

describe("killed at any await while claiming a question and giving it back", () => {
  it("the question can be claimed by another at last, and nothing else is changed", async () => {
    await crashEverywhere({
      options: {},
      before: async (world, process) => {
        const taskId = await create(world, process);
        world.backend.of().ask();
        await world.clock.settle();
        return taskId;
      },
      during: async (_world, { engine }, taskId) => {
        await engine.claimQuestion(taskId, mine, "q2", { by: "first", forMs: 60_000 });
        await engine.releaseQuestion(taskId, mine, "q2", "first");
      },
      after: async (_world, record, { engine }) => {
        expect(record).toMatchObject({ state: "waiting", effects: [] });
        const claimed = await engine.claimQuestion(record?.taskId, mine, "q2", { by: "second", forMs: 60_000 });
        expect(claimed).toMatchObject({ outcome: "held", question: { claim: { by: "second" } } });
      },
    });
  });
});

describe("killed at any await while fetching a result", () => {
  const text = "abcdefghij";
  it("the result is whole in the end", async () => {
    const awaits = await crashEverywhere({
      options: { adapter: { outputChunkBytes: 3 } },
      before: create,
      during: async (world) => world.backend.of().succeedWithStream(text),
      after: async (_world, record, { engine }) => {
        expect(record).toMatchObject({ state: "succeeded", output: { bytes: text.length }, effects: [] });
        const part = await engine.readOutput(record?.taskId, mine, { offset: 0, length: 100 });
        expect(Buffer.from(part.bytes).toString()).toBe(text);
      },
    });
    expect(awaits).toBeGreaterThanOrEqual(16);
  });
});

describe("killed at any await while purging", () => {
  it("the backend is told to forget, and the record goes", async () => {
    await crashEverywhere({
      options: { task: { retentionMs: 1_000 } },
      before: create,
      during: async (world) => {
        world.backend.of().succeed({});
        await world.clock.advance(2_000);
      },
      after: (world, record) => {
        expect(record).toBeUndefined();
        expect(world.backend.of().forgotten).toBe(true);
      },
    });
  });
});
