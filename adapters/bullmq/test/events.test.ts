import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import type { BridgeError, ExecutionUpdate, Subscription } from "@taskbridge/core/adapter";
import type { BullmqAdapter } from "../src/index.ts";
import { closeShared, describeRedis, newKey, type RedisBench, redisBench, until } from "./redis-bench.ts";

afterAll(closeShared);

interface Listening {
  readonly updates: readonly ExecutionUpdate[];
  readonly cursor: string | undefined;
  readonly errors: readonly BridgeError[];
  close(): Promise<void>;
}

describeRedis("events", () => {
  let bench: RedisBench;
  let open: Subscription[] = [];
  beforeEach(async () => {
    bench = await redisBench();
  });
  afterEach(async () => {
    for (const subscription of open) await subscription.close();
    open = [];
    await bench.close();
  });

  const listen = async (
    options: { cursor?: string; adapter?: BullmqAdapter; queues?: string[]; before?: () => Promise<void> } = {},
  ): Promise<Listening> => {
    const adapter = options.adapter ?? bench.adapter;
    const updates: ExecutionUpdate[] = [];
    const errors: BridgeError[] = [];
    let { cursor } = options;
    const subscription = await adapter.watch(
      {
        targets: (options.queues ?? [bench.queueName]).map((queue) => adapter.parseTarget({ queue })),
        ...(cursor === undefined ? {} : { cursor }),
        sink: async (event, next) => {
          await options.before?.();
          updates.push(...event);
          cursor = next ?? cursor;
        },
        ended: (error) => errors.push(error),
      },
      bench.context(),
    );
    open.push(subscription);
    return {
      updates,
      errors,
      get cursor() {
        return cursor;
      },
      close: () => subscription.close(),
    };
  };
  const endOf = (listening: Listening, key: string) =>
    until(`the end of ${key}`, async () =>
      listening.updates.find(
        (update) => update.key === key && ["succeeded", "failed", "cancelled"].includes(update.snapshot?.status ?? ""),
      ),
    );

  it("tell the first job's life, which happens as soon as one listens", async () => {
    await bench.work("plain");
    const listening = await listen();
    const { id, ref } = await bench.start("progresses", { ms: 200 });
    expect(await endOf(listening, id)).toMatchObject({
      key: id,
      ref,
      snapshot: { status: "succeeded", output: { value: {} } },
    });
    const statuses = listening.updates.filter(({ key }) => key === id).map(({ snapshot }) => snapshot?.status);
    expect(statuses).toContain("running");
    expect(listening.updates.some(({ snapshot }) => snapshot?.progress?.message === "half")).toBe(true);
  });

  it("are told from where the cursor left off, of several queues", async () => {
    await bench.work("plain");
    const before = await listen({ queues: [bench.queueName, "other"] });
    await until("a cursor is kept before anything happens", async () => before.cursor);
    await before.close();
    const { id } = await bench.start("succeeds");
    const failing = await bench.start("fails");
    await bench.ended(failing.ref);
    expect(before.updates).toEqual([]);
    const after = await listen({
      queues: ["other", bench.queueName],
      ...(before.cursor === undefined ? {} : { cursor: before.cursor }),
    });
    expect((await endOf(after, id)).snapshot?.status).toBe("succeeded");
    expect((await endOf(after, failing.id)).snapshot?.failure?.reason).toBe("no such file");
  });

  it("are told of a stream that was made anew with a clock put back, also to who listens already", async () => {
    await bench.work("plain");
    const events = bench.queue.toKey("events");
    const listening = await listen();
    const future = `${Date.now() + 3_600_000}-0`;
    const ours = newKey();
    await bench.redis.xadd(events, future, "event", "active", "jobId", ours);
    await until("the event of the future is taken", async () => listening.updates.find(({ key }) => key === ours));
    await bench.redis.del(events);
    const { id } = await bench.start("succeeds");
    // As who was restarted meanwhile.
    const after = await listen(listening.cursor === undefined ? {} : { cursor: listening.cursor });
    expect(listening.cursor).toContain(future);
    expect((await endOf(after, id)).snapshot?.status).toBe("succeeded");
    expect((await endOf(listening, id)).snapshot?.status).toBe("succeeded");
    expect(after.cursor).not.toContain(future);
  });

  it("bring the result of a job that its queue's retention has trimmed by then (case 29)", async () => {
    await bench.work("plain");
    const before = await listen();
    await before.close();
    const { id, ref } = await bench.start("returns", { value: { answer: 42 } });
    await until("it is done", async () => ((await bench.queue.getJobState(id)) === "completed" ? true : undefined));
    // A customer's job, whose own option trims the whole queue.
    await bench.queue.add("succeeds", {}, { removeOnComplete: { count: 1 } });
    await until("it is trimmed", async () => ((await bench.queue.getJob(id)) === undefined ? true : undefined));
    const after = await listen(before.cursor === undefined ? {} : { cursor: before.cursor });
    expect((await endOf(after, id)).snapshot).toMatchObject({
      status: "succeeded",
      output: { kind: "json", value: { answer: 42 } },
    });
    // Who only looks is told as well.
    expect(await bench.inspect(ref)).toMatchObject({
      snapshot: { status: "succeeded", output: { value: { answer: 42 } } },
    });
  });

  it("do not change what a customer's own jobs keep: 5 of 50, beside ours", async () => {
    await bench.work("plain");
    const listening = await listen();
    const ours: string[] = [];
    for (let round = 0; round < 10; round++) {
      await bench.queue.addBulk(
        Array.from({ length: 5 }, (_, index) => ({
          name: "returns",
          data: { value: round * 5 + index },
          opts: { removeOnComplete: { count: 5 } },
        })),
      );
      ours.push((await bench.start("returns", { value: { round } })).id);
    }
    const ends = await Promise.all(ours.map((id) => endOf(listening, id)));
    expect(ends.map(({ snapshot }) => snapshot?.output)).toEqual(
      ours.map((_, round) => ({ kind: "json", value: { round } })),
    );
    await until("all have run", async () => ((await bench.journal()).length === 60 ? true : undefined));
    // As without us: the retention counts all jobs of the queue, and its own jobs trim to five.
    await bench.queue.add("succeeds", {}, { removeOnComplete: { count: 5 } });
    await until("they are trimmed to five", async () =>
      (await bench.queue.getCompletedCount()) === 5 ? true : undefined,
    );
    expect(listening.updates.every(({ key }) => key !== undefined && ours.includes(key))).toBe(true);
  });

  it("that were dropped before they were read have ended jobs looked at", async () => {
    await bench.work("plain");
    const before = await listen();
    const { id, ref } = await bench.start("succeeds");
    await endOf(before, id);
    await before.close();
    const missed = await bench.start("succeeds");
    await bench.ended(missed.ref);
    const foreign = await bench.queue.add("succeeds", {});
    await until("theirs is done", async () => ((await foreign.getState()) === "completed" ? true : undefined));
    await bench.redis.xtrim(bench.queue.toKey("events"), "MAXLEN", 1);
    const after = await listen(before.cursor === undefined ? {} : { cursor: before.cursor });
    await until("hints", async () => (after.updates.length > 0 ? true : undefined));
    expect([...after.updates].sort((one, other) => (String(one.key) < String(other.key) ? -1 : 1))).toEqual(
      [
        { key: id, ref },
        { key: missed.id, ref: missed.ref },
      ].sort((one, other) => (one.key < other.key ? -1 : 1)),
    );
    expect(bench.logged.map(([message]) => message).join()).toContain("were dropped");
  });

  it("survive a connection that is cut, and one that never answers", async () => {
    await bench.work("plain");
    const { adapter, proxy } = await bench.behindProxy();
    const listening = await listen({ adapter });
    for (let round = 0; round < 3; round++) {
      const { id } = await bench.start("succeeds");
      proxy.cut();
      const next = await bench.start("succeeds");
      await endOf(listening, id);
      await endOf(listening, next.id);
    }
    expect(listening.errors).toEqual([]);
  });

  it("that were given up while a connection was made are not told later", async () => {
    await bench.work("plain");
    const { adapter, proxy } = await bench.behindProxy();
    proxy.set({ frozen: true });
    const reported: unknown[] = [];
    const target = adapter.parseTarget({ queue: bench.queueName });
    const watching = adapter.watch(
      { targets: [target], sink: async (event) => void reported.push(...event), ended: () => {} },
      bench.context(AbortSignal.timeout(100)),
    );
    await expect(watching).rejects.toMatchObject({ code: "unavailable" });
    proxy.set({});
    const { ref } = await bench.start("succeeds");
    await bench.ended(ref);
    expect(await adapter.inspect([{ ref, want: "status" }], bench.context())).toMatchObject([
      { snapshot: { status: "succeeded" } },
    ]);
    expect(reported).toEqual([]);
  });

  it("wait for a sink that refuses, and are told again", async () => {
    await bench.work("plain");
    let refusals = 0;
    const listening = await listen({
      before: async () => {
        if (refusals < 2 && (await bench.added()).length > 0) {
          refusals += 1;
          throw new Error("the store is away");
        }
      },
    });
    const { id } = await bench.start("succeeds");
    await endOf(listening, id);
    expect(refusals).toBe(2);
  });

  it("of a kind, or with values, that nobody knows do no harm", async () => {
    await bench.work("plain");
    const listening = await listen();
    const events = bench.queue.toKey("events");
    await bench.redis.xadd(
      events,
      "*",
      "event",
      "completed",
      "jobId",
      `mcp-${"0".repeat(32)}`,
      "returnvalue",
      "{not json",
    );
    await bench.redis.xadd(events, "*", "event", "progress", "jobId", "7", "data", "{not json");
    await bench.redis.xadd(events, "*", "something", "else");
    const { id } = await bench.start("nothing");
    expect((await endOf(listening, id)).snapshot?.output).toBeUndefined();
    expect(listening.updates[0]).toMatchObject({
      snapshot: { status: "succeeded", output: { kind: "text", text: "{not json" } },
    });
  });

  it("carry a large result, so that nothing has to be fetched later", async () => {
    await bench.work("plain");
    const listening = await listen();
    const { id } = await bench.start("huge", { length: 100_000 });
    expect((await endOf(listening, id)).snapshot?.output).toMatchObject({ kind: "json" });
  });
});
