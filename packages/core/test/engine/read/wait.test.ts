import { describe, expect, it } from "@jest/globals";
import { BridgeError } from "../../../src/adapter.ts";
import type { TaskView, WaitOptions } from "../../../src/index.ts";
import { createWorld, finalStop, mine, startTask, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  const { record } = await startTask(process);
  const wait = (wanted: Partial<WaitOptions>): Promise<TaskView> =>
    process.engine.waitForTask(record.taskId, mine, { until: "ended", timeoutMs: 60_000, ...wanted });
  return { ...world, ...process, taskId: record.taskId, wait };
};

const isSettled = async (work: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  work.then(note, note);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
};

describe("waiting for a task", () => {
  it("ends in the instant in which what is waited for is known, and not before", async () => {
    const world = await open();
    const waits = {
      changed: world.wait({ until: "changed" }),
      attention: world.wait({ until: "attention" }),
      ended: world.wait({ until: "ended" }),
    };
    const settled = async (): Promise<readonly boolean[]> => {
      await world.clock.settle();
      return Promise.all(Object.values(waits).map(isSettled));
    };
    expect(await settled()).toEqual([false, false, false]);
    world.backend.of().progress({ done: 1 });
    expect(await settled()).toEqual([true, false, false]);
    world.backend.of().ask();
    expect(await settled()).toEqual([true, true, false]);
    world.backend.of().fail("broke");
    expect(await settled()).toEqual([true, true, true]);
    expect((await waits.ended).record).toMatchObject({ state: "failed", message: "broke" });
  });

  it("ends at once when it is so already, or has been since a revision", async () => {
    const world = await open();
    const { revision } = (await world.record(world.taskId)) ?? {};
    world.backend.of().progress({ done: 1 });
    await world.clock.settle();
    await world.wait({ until: "changed", revision: revision as number });
    world.backend.of().succeed({});
    await world.clock.settle();
    await world.wait({ until: "attention" });
    await world.wait({ until: "ended" });
  });

  it("ends with the present state when its time is over or its caller is gone", async () => {
    const world = await open();
    const late = world.wait({ timeoutMs: 5_000 });
    const gone = new AbortController();
    const left = world.wait({ signal: gone.signal });
    await world.clock.advance(4_999);
    expect(await isSettled(late)).toBe(false);
    gone.abort();
    await world.clock.advance(1);
    for (const wait of [late, left, world.wait({ signal: AbortSignal.abort() })])
      expect((await wait).record.state).toBe("running");
    expect(world.backend.callsOf("cancel")).toEqual([]);
  });

  it("hears within ten seconds of what another process wrote", async () => {
    const world = await open({
      adapter: { without: ["watch"], traits: { minInspectIntervalMs: 3_600_000, cancel: "requested" } },
    });
    const other = await world.boot();
    const wait = world.wait({});
    await world.clock.advance(1_000);
    await other.engine.cancelTask(world.taskId, mine, finalStop);
    await world.clock.advance(10_000);
    expect((await wait).record.state).toBe("cancelled");
  });

  it("goes on after the store failed once", async () => {
    let isBroken = false;
    const world = await open({
      adapter: { without: ["watch"] },
      wrapStore: (store) => ({
        ...store,
        read: async (taskId) => {
          if (isBroken) throw new BridgeError("unavailable", "locked");
          return store.read(taskId);
        },
      }),
    });
    const wait = world.wait({});
    await world.clock.advance(1_000);
    isBroken = true;
    await world.clock.advance(5_000);
    isBroken = false;
    world.backend.of().succeed({});
    await world.clock.advance(20_000);
    expect((await wait).record.state).toBe("succeeded");
  });
});

describe("following a task", () => {
  it("goes on after the store failed once, and is not told that the task is gone", async () => {
    let isBroken = false;
    const world = await open({
      wrapStore: (store) => ({
        ...store,
        readPayload: async (...call) => {
          if (isBroken) throw new BridgeError("unavailable", "locked");
          return store.readPayload(...call);
        },
      }),
    });
    const states: string[] = [];
    const gone = () => void states.push("gone");
    await world.engine.followTask(world.taskId, mine, ({ record }) => void states.push(record.state), gone);
    await world.clock.settle();
    isBroken = true;
    world.backend.of().succeed({});
    await world.clock.advance(5_000);
    expect(states).toEqual(["running"]);
    isBroken = false;
    await world.clock.advance(2_000);
    expect(states).toEqual(["running", "succeeded"]);
  });

  it("tells each state in order, beginning with the present one, until the end, and then nothing", async () => {
    const world = await open();
    const reported: (number | undefined)[] = [];
    let states = "";
    await world.engine.followTask(world.taskId, mine, ({ record }) => {
      reported.push(record.execution?.progress?.done);
      states = `${states} ${record.state}`;
    });
    for (let done = 1; done <= 5; done++) {
      await world.clock.settle();
      world.backend.of().progress({ done });
    }
    await world.clock.settle();
    world.backend.of().succeed({});
    await world.clock.settle();
    expect(reported).toEqual([undefined, 1, 2, 3, 4, 5, 5]);
    expect(states).toMatch(/^( running){6} succeeded$/);
    const { scheduled } = world.clock;
    await world.clock.advance(60_000);
    expect(reported).toHaveLength(7);
    expect(world.clock.scheduled).toBeLessThanOrEqual(scheduled);
  });

  it("tells nothing more once stopped", async () => {
    const world = await open();
    const reported: string[] = [];
    const { stop } = await world.engine.followTask(
      world.taskId,
      mine,
      ({ record }) => void reported.push(record.state),
    );
    await world.clock.settle();
    stop();
    world.backend.of().succeed({});
    await world.clock.advance(60_000);
    expect(reported).toEqual(["running"]);
  });

  it("tells that the task is gone when it is deleted elsewhere", async () => {
    const world = await open({ adapter: { without: ["watch"], traits: { cancel: "requested" } } });
    const other = await world.boot();
    const reported: string[] = [];
    await world.engine.followTask(
      world.taskId,
      mine,
      ({ record }) => void reported.push(record.state),
      () => void reported.push("gone"),
    );
    await world.clock.settle();
    await other.engine.deleteTask(world.taskId, mine);
    await world.clock.advance(15_000);
    expect(reported).toEqual(["running", "gone"]);
  });
});
