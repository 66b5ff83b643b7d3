import { describe, expect, it } from "@jest/globals";
import {
  asExecutionRef,
  asStartKey,
  BridgeError,
  type ExecutionUpdate,
  type Subscription,
  type WatchRequest,
} from "../../../src/adapter.ts";
import { createWorld, mine, startTask, stop, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld({ ...options, limits: { sweepIntervalMs: 86_400_000, ...options.limits } });
  const process = await world.boot();
  await world.clock.advance(0);
  const { record } = await startTask(process);
  const update = async (...updates: readonly ExecutionUpdate[]): Promise<void> => {
    world.backend.events.send(...updates);
    await world.clock.settle();
  };
  return { ...world, ...process, taskId: record.taskId, key: record.startKey, update };
};

const ended = (reason = "connection reset"): BridgeError => new BridgeError("unavailable", reason);

describe("news from a backend that is watched", () => {
  it("reaches the record, waiters and followers without a look", async () => {
    const world = await open();
    const states: string[] = [];
    await world.engine.followTask(world.taskId, mine, ({ record }) => void states.push(record.state));
    await world.clock.settle();
    const inspections = world.backend.callsOf("inspect").length;
    const wait = world.engine.waitForTask(world.taskId, mine, { until: "ended", timeoutMs: 60_000 });
    await world.clock.settle();
    world.backend.of().ask();
    await world.clock.settle();
    world.backend.of().succeed({ done: true });
    await world.clock.settle();
    expect((await wait).record.state).toBe("succeeded");
    expect(Buffer.from((await wait).output ?? []).toString()).toBe('{"done":true}');
    expect(states).toEqual(["running", "waiting", "succeeded"]);
    expect(world.backend.callsOf("inspect").length).toBe(inspections);
  });

  it("may be repeated and out of order, and still tells the truth", async () => {
    const world = await open();
    const { key, ref } = world.backend.of();
    world.backend.of().progress({ done: 5, total: 9 });
    await world.clock.settle();
    await world.update(
      { key, ref, snapshot: { status: "queued" } },
      { key, ref, snapshot: { status: "running", progress: { done: 2 } } },
      { key, ref, snapshot: { status: "running", progress: { done: 2 } } },
    );
    expect(await world.record(world.taskId)).toMatchObject({ state: "running", execution: { progress: { done: 5 } } });
    world.backend.of().succeed({ made: "it" });
    await world.update(
      { key, ref, snapshot: { status: "running", progress: { done: 7 } } },
      { key, ref, snapshot: { status: "failed", failure: { kind: "job", reason: "stale" } } },
    );
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded" });
    expect((await world.record(world.taskId))?.failure).toBeUndefined();
  });

  it("is never given to another task, and is logged when it fits none (case 5)", async () => {
    const world = await open();
    const before = await world.record(world.taskId);
    const { ref } = world.backend.of();
    const end = { status: "succeeded" } as const;
    await world.update(
      { key: asStartKey("mcp-00000000000000000000000000000000"), snapshot: end },
      { ref: asExecutionRef('{"run":"run-77"}'), snapshot: end },
      // A backend that counts its jobs anew gives an old ID to somebody else's job.
      { key: asStartKey("mcp-00000000000000000000000000000000"), ref, snapshot: end },
      { snapshot: end },
    );
    expect(world.audited("unmatched_update")).toHaveLength(4);
    expect(await world.record(world.taskId)).toEqual(before);
    await world.update({ ref, snapshot: end });
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded" });
  });

  it("of an execution with another ref is not about its own, whatever its key: it is a reason to look", async () => {
    const world = await open({ adapter: { startsAs: "queued" } });
    const { key, ref } = world.backend.of();
    const namesake = asExecutionRef('{"run":"of another account"}');
    const inspections = world.backend.callsOf("inspect").length;
    await world.update({ key, ref: namesake });
    await world.update({ key, ref: namesake, snapshot: { status: "running", progress: { done: 3 } } });
    await world.update({
      key,
      ref: namesake,
      snapshot: { status: "succeeded", output: { kind: "text", text: "other" } },
    });
    expect(await world.record(world.taskId)).toMatchObject({ state: "queued", ref });
    expect(world.backend.callsOf("inspect").length).toBeGreaterThan(inspections);
    await world.engine.cancelTask(world.taskId, mine, stop);
    await world.clock.settle();
    expect(world.backend.of().snapshot.status).toBe("cancelled");
  });

  it("gives a ref to a task that has none, and no later answer to the start takes that away", async () => {
    const world = createWorld({ adapter: { without: ["inspect"] } });
    const process = await world.boot();
    world.backend.events.hold();
    world.backend.faults.next("start", { answerDelayMs: 5_000 });
    const pending = startTask(process);
    await world.clock.advance(2_000);
    const { record } = await pending;
    const reported = asExecutionRef('{"run":"run-1","told":"by news"}');
    await process.engine.receive("fake", world.backend.webhook([{ key: record.startKey, ref: reported }]));
    expect(await world.record(record.taskId)).toMatchObject({ ref: reported });
    await world.clock.advance(60_000);
    expect(await world.record(record.taskId)).toMatchObject({ ref: reported, effects: [] });
  });

  it("that only says that something changed leads to a look", async () => {
    const world = await open({ adapter: { eventsCarry: { snapshot: false } } });
    world.backend.of().succeed({});
    await world.clock.settle();
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded" });
  });

  it("is acknowledged only when it is in the store: the cursor is saved after, and what was not is told again", async () => {
    let isBroken = false;
    const order: string[] = [];
    const world = await open({
      wrapStore: (store) => ({
        ...store,
        revise: async (...given) => {
          if (isBroken) throw new BridgeError("unavailable", "disk full");
          const written = await store.revise(...given);
          order.push(`revision: ${written.state}`);
          return written;
        },
        values: {
          ...store.values,
          write: async (...given) => {
            order.push("cursor");
            return store.values.write(...given);
          },
        },
      }),
    });
    await world.clock.settle();
    order.length = 0;
    isBroken = true;
    world.backend.of().succeed({ kept: true });
    await world.clock.settle();
    expect(world.backend.events.refusals).toMatchObject([{ code: "unavailable" }]);
    expect(order).toEqual([]);
    isBroken = false;
    world.backend.events.end(ended());
    await world.clock.advance(1_000);
    expect(order).toEqual(["revision: succeeded", "cursor"]);
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded" });
  });

  it("is caught up with after a restart, from the saved cursor", async () => {
    const world = await open({ adapter: { without: ["inspect"] } });
    await world.clock.settle();
    world.kill();
    world.backend.of().succeed({ while: "unavailable" });
    const next = await world.boot();
    await world.clock.settle();
    const view = await next.engine.readTask(world.taskId, mine);
    expect(Buffer.from(view.output ?? []).toString()).toBe('{"while":"unavailable"}');
  });

  it("brings the result although the backend deleted the job before anybody looked (case 29)", async () => {
    const world = await open();
    world.backend.of().succeed({ brief: 1 });
    world.backend.of().vanish({ proven: true });
    await world.clock.settle();
    await world.clock.advance(60_000);
    const view = await world.engine.readTask(world.taskId, mine);
    expect(Buffer.from(view.output ?? []).toString()).toBe('{"brief":1}');
  });
});

describe("a subscription that ends", () => {
  it("is renewed, and nothing that was told meanwhile is missed", async () => {
    const world = await open();
    world.backend.events.end(ended());
    world.backend.of().succeed({});
    await world.clock.advance(1_000);
    expect(world.audited("watch_ended")).toHaveLength(1);
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded" });
  });

  it("is renewed with growing pauses while that fails, and while each ends at once", async () => {
    for (const fails of [true, false]) {
      const world = await open();
      if (fails) world.backend.faults.always("watch", { before: "unavailable" });
      world.backend.events.end(ended());
      for (let second = 0; second < 120; second++) {
        await world.clock.advance(1_000);
        if (!fails) world.backend.events.end(ended());
      }
      const { length } = world.backend.callsOf("watch");
      expect(length).toBeGreaterThanOrEqual(6);
      expect(length).toBeLessThanOrEqual(12);
    }
  });

  it("that comes when it was given up is closed, and says nothing about the one that took its place", async () => {
    const world = createWorld();
    const requests: WatchRequest<unknown>[] = [];
    const closed: number[] = [];
    let release: () => void = () => {};
    const watch = async (request: WatchRequest<unknown>): Promise<Subscription> => {
      const number = requests.push(request);
      if (number === 1)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      return { close: async () => void closed.push(number) };
    };
    const { engine } = await world.boot({ adapters: { fake: { ...world.backend.connect(), watch } } });
    await world.clock.advance(35_000);
    expect([requests.length, engine.unavailableAdapters()]).toEqual([2, []]);
    release();
    await world.clock.settle();
    expect(closed).toEqual([1]);
    const [late] = requests as [WatchRequest<unknown>];
    await expect(late.sink([], "9-0")).rejects.toMatchObject({ code: "unavailable" });
    late.ended(ended());
    await world.clock.advance(60_000);
    expect([requests.length, closed]).toEqual([2, [1]]);
  });

  it("that lasted is renewed soon, however often that happened before", async () => {
    const world = await open();
    for (let round = 0; round < 10; round++) {
      await world.clock.advance(600_000);
      const subscribed = world.backend.callsOf("watch").length;
      world.backend.events.end(ended());
      await world.clock.advance(1_000);
      expect(world.backend.callsOf("watch").length).toBe(subscribed + 1);
    }
  });
});

describe("a webhook call", () => {
  it("is handed to the adapter, and its news is in the record when the call is answered", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    const { ref } = world.backend.of();
    await world.engine.receive("fake", world.backend.webhook([{ ref, snapshot: { status: "succeeded" } }]));
    expect(await world.record(world.taskId)).toMatchObject({ state: "succeeded" });
  });

  it("with a wrong signature changes nothing", async () => {
    const world = await open({ adapter: { without: ["watch"] } });
    const { ref } = world.backend.of();
    const forged = world.backend.webhook([{ ref, snapshot: { status: "succeeded" } }], { signed: false });
    await expect(world.engine.receive("fake", forged)).rejects.toMatchObject({ code: "denied" });
    expect(await world.record(world.taskId)).toMatchObject({ state: "running" });
  });

  it("for an adapter that takes none, or that does not exist, is refused", async () => {
    const world = await open({ adapter: { without: ["receive"] } });
    const call = world.backend.webhook([]);
    await expect(world.engine.receive("fake", call)).rejects.toMatchObject({ code: "unsupported" });
    await expect(world.engine.receive("nothing", call)).rejects.toMatchObject({ code: "misconfigured" });
  });
});
