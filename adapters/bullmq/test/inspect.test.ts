import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import type { InspectOutcome } from "@taskbridge/core/adapter";
import { FlowProducer } from "bullmq";
import { toRef } from "../src/execution-ref.ts";
import { closeShared, describeRedis, newKey, type RedisBench, redisBench, until } from "./redis-bench.ts";

const snapshotOf = (outcome: InspectOutcome) => {
  if ("snapshot" in outcome) return outcome.snapshot;
  throw new Error(`no snapshot: ${JSON.stringify(outcome)}`);
};

afterAll(closeShared);

describeRedis("a look", () => {
  let bench: RedisBench;
  beforeEach(async () => {
    bench = await redisBench();
  });
  afterEach(() => bench.close());

  it("reads 500 jobs in one round trip", async () => {
    const started = await Promise.all(Array.from({ length: 500 }, () => bench.start("build")));
    const { adapter, proxy } = await bench.behindProxy();
    const items = started.map(({ ref }) => ({ ref, want: "status" as const }));
    // The first look also connects, and teaches Redis the script.
    await adapter.inspect(items.slice(0, 1), bench.context());
    const before = proxy.roundTrips;
    const outcomes = await adapter.inspect(items, bench.context());
    expect(outcomes.map((outcome) => snapshotOf(outcome).status)).toEqual(items.map(() => "queued"));
    expect(proxy.roundTrips - before).toBe(1);
  });

  it("tells of a job that is in no list, which BullMQ calls unknown, but not behind a long backlog", async () => {
    const started = await Promise.all(Array.from({ length: 8 }, () => bench.start("build")));
    const items = started.map(({ ref }) => ({ ref, want: "status" as const }));
    const inspection = () => bench.adapter.inspect(items, bench.context());
    const lost = { notFound: { proven: false, reason: expect.stringContaining("in no list of the queue reports") } };
    const queued = { snapshot: expect.objectContaining({ status: "queued" }) };
    const wait = bench.queue.toKey("wait");
    const ids = started.map(({ id }) => id);
    await bench.redis.lrem(wait, 0, ids[0] as string);
    expect(await bench.queue.getJobState(ids[0] as string)).toBe("unknown");
    expect(await inspection()).toEqual([lost, ...Array(7).fill(queued)]);
    await bench.redis.lrem(wait, 0, ids[7] as string);
    expect(await inspection()).toEqual([lost, ...Array(6).fill(queued), lost]);
    await bench.redis.del(wait);
    expect(await inspection()).toEqual(items.map(() => lost));
    // What waits in a paused queue of an earlier BullMQ, and what a worker has just let go of.
    await bench.redis.lpush(bench.queue.toKey("paused"), ids[1] as string);
    await bench.redis.lpush(bench.queue.toKey("active"), ids[2] as string);
    expect(await inspection()).toEqual([lost, queued, queued, ...Array(5).fill(lost)]);
    await bench.redis.rpush(wait, ...Array.from({ length: 1_001 }, (_, index) => `other-${index}`));
    expect(await inspection()).toEqual(items.map(() => queued));
  });

  it("knows every state", async () => {
    const waiting = await bench.start("build");
    const delayed = await bench.start("build", {}, { delay: 60_000 });
    const prioritized = await bench.start("build", {}, { priority: 9 });
    expect(snapshotOf(await bench.inspect(waiting.ref, "detail"))).toMatchObject({
      status: "queued",
      progress: { message: "no worker is connected to the queue" },
    });
    expect(snapshotOf(await bench.inspect(delayed.ref))).toMatchObject({
      status: "queued",
      progress: { message: expect.stringMatching(/^delayed until \d{4}-/) },
    });
    expect(snapshotOf(await bench.inspect(prioritized.ref)).status).toBe("queued");
    await bench.queue.pause();
    expect(snapshotOf(await bench.inspect(waiting.ref))).toMatchObject({
      status: "queued",
      progress: { message: "the queue is paused" },
    });
    await bench.queue.resume();
    await bench.queue.obliterate({ force: true });

    await bench.work("plain");
    const held = await bench.start("runs-until-cancelled");
    const unheard = await bench.start("runs-until-cancelled", {}, { delay: 60_000 });
    const running = await bench.seen(held.ref, "it runs", ({ status }) => status === "running");
    expect(running.startedAt).toBeGreaterThan(Date.now() - 60_000);
    expect(snapshotOf(await bench.inspect(unheard.ref)).status).toBe("queued");
  });

  it("counts the workers that could take a job that nobody takes", async () => {
    await bench.work("plain", 1);
    await bench.start("runs-until-cancelled");
    const { ref } = await bench.start("no-such-processor");
    await bench.seen(
      ref,
      "it waits",
      ({ status, progress }) => status === "queued" && progress?.message === "waits for one of 1 connected workers",
    );
  });

  it("tells attempts, and keeps the stack of a failure for operators", async () => {
    await bench.work("plain");
    const { ref } = await bench.start("fails-twice", {}, { attempts: 3, backoff: 300 });
    await bench.seen(
      ref,
      "the second attempt is to come",
      ({ status, progress }) =>
        status === "queued" && progress?.message?.startsWith("attempt 2 of 3 to come; delayed until") === true,
    );
    expect((await bench.ended(ref)).output).toEqual({ kind: "json", value: "attempt 3" });

    const failing = await bench.start("fails-twice", {}, { attempts: 2 });
    const { failure } = await bench.ended(failing.ref);
    expect(failure).toEqual({ kind: "job", reason: "attempt 2 is too early", code: "TypeError" });
    const [message, fields] = bench.logged.at(-1) ?? [];
    expect(message).toContain(failing.id);
    expect(fields).toMatchObject({ attempts: 2, stack: expect.stringContaining("plain-worker.mjs") });
    const onlyFirstLine = await bench.start("fails");
    expect((await bench.ended(onlyFirstLine.ref)).failure).toEqual({ kind: "job", reason: "no such file" });
  });

  it.each([
    ["a percentage", 40, { done: 40, total: 100 }],
    ["a count", 1234, { done: 1234 }],
    ["our convention", { done: 3, total: 9, message: "third" }, { done: 3, total: 9, message: "third" }],
    ["an object of their own", { percent: 7, stage: "x" }, { message: '{"percent":7,"stage":"x"}' }],
    ["a text", "half way", { message: "half way" }],
    ["a flag", true, { message: "true" }],
    ["a number below zero", -1, { message: "-1" }],
  ])("shows progress that is %s", async (_name, progress, reported) => {
    await bench.work("plain");
    const { ref } = await bench.start("shows", { progress });
    await bench.seen(ref, "progress", (snapshot) => JSON.stringify(snapshot.progress) === JSON.stringify(reported));
  });

  it("takes results of every kind", async () => {
    await bench.work("plain");
    const outputOf = async (job: string, input?: unknown) =>
      (await bench.ended((await bench.start(job, input)).ref)).output;
    expect(await outputOf("nothing")).toBeUndefined();
    expect(await outputOf("returns", { value: null })).toBeUndefined();
    expect(await outputOf("returns", { value: 0 })).toEqual({ kind: "json", value: 0 });
    expect(await outputOf("returns", { value: "" })).toEqual({ kind: "json", value: "" });
    expect(await outputOf("returns", { value: false })).toEqual({ kind: "json", value: false });
    expect(await outputOf("deep")).toMatchObject({ kind: "text" });
    const bigint = await bench.ended((await bench.start("bigint")).ref);
    expect(bigint.failure?.reason).toContain("BigInt");

    const huge = await bench.start("huge", { length: 1_000_000 });
    expect((await bench.ended(huge.ref)).output).toEqual({
      kind: "stream",
      bytes: 2_000_011,
      mediaType: "application/json",
    });
    // In the middle of a character.
    const chunk = await bench.adapter.readOutput(huge.ref, { offset: 10, length: 3 }, bench.context());
    expect(chunk.totalBytes).toBe(2_000_011);
    expect([...chunk.bytes]).toEqual([0xa9, 0xc3, 0xa9]);

    const notJson = await bench.start("returns", { value: 1 });
    await bench.ended(notJson.ref);
    await bench.redis.hset(bench.queue.toKey(notJson.id), "returnvalue", "plain text");
    expect((await bench.ended(notJson.ref)).output).toEqual({ kind: "text", text: "plain text" });
  });

  it("lists the children of a flow, and counts them as its progress", async () => {
    const flows = new FlowProducer({ connection: bench.redis, prefix: bench.prefix });
    const id = newKey();
    const child = (name: string, opts = {}) => ({ name, queueName: "parts", data: {}, opts });
    await flows.add({
      name: "succeeds",
      queueName: bench.queueName,
      data: {},
      opts: { jobId: id },
      children: [child("chapter", { delay: 60_000 }), child("succeeds"), child("cover")],
    });
    const ref = toRef({ prefix: bench.prefix, queue: bench.queueName, id });
    expect(snapshotOf(await bench.inspect(ref))).toMatchObject({ status: "running", progress: { done: 0, total: 3 } });
    const { children } = snapshotOf(await bench.inspect(ref, "detail"));
    expect(children?.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
      "chapter queued",
      "cover queued",
      "succeeds queued",
    ]);
    await flows.close();
  });

  it("tells what is missing, what was removed, and what is not ours", async () => {
    const removed = await bench.start("build");
    await bench.queue.remove(removed.id);
    expect(await bench.inspect(removed.ref)).toEqual({
      notFound: { proven: true, reason: expect.stringContaining("removed") },
    });
    const unknown = toRef({ prefix: bench.prefix, queue: bench.queueName, id: newKey() });
    expect(await bench.inspect(unknown)).toEqual({
      notFound: { proven: false, reason: expect.stringContaining("removeOnComplete") },
    });
    const elsewhere = toRef({ prefix: "other", queue: bench.queueName, id: newKey() });
    expect(await bench.inspect(elsewhere)).toEqual({
      notFound: { proven: false, reason: expect.stringContaining("another prefix") },
    });
  });

  it("uses the result of a job that its owner removed after it had ended", async () => {
    await bench.work("plain");
    const { ref, id } = await bench.start("succeeds");
    await bench.ended(ref);
    await bench.queue.remove(id);
    expect(snapshotOf(await bench.inspect(ref))).toMatchObject({
      status: "succeeded",
      output: { kind: "json", value: { files: 14 } },
    });
    const events = await bench.redis.xrange(bench.queue.toKey("events"), "-", "+");
    const end = events.find(([, fields]) => fields.includes("completed"))?.[0] ?? "";
    await bench.redis.xdel(bench.queue.toKey("events"), end);
    expect(await bench.inspect(ref)).toEqual({
      notFound: { proven: true, reason: expect.stringContaining("after it had ended") },
    });
  });

  it("for a missing job leaves Redis to others, whatever their results weigh, and goes on where it stopped", async () => {
    await bench.work("plain");
    const { ref, id } = await bench.start("succeeds");
    await bench.ended(ref);
    await bench.redis.del(bench.queue.toKey(id));
    await bench.redis.zrem(bench.queue.toKey("completed"), id);
    const fields = ["event", "completed", "jobId", "1", "returnvalue", "x".repeat(500_000)];
    for (let count = 0; count < 120; count++) await bench.redis.xadd(bench.queue.toKey("events"), "*", ...fields);
    const { adapter, proxy } = await bench.behindProxy();
    const inspection = async () => (await adapter.inspect([{ ref, want: "status" }], bench.context()))[0];
    let maxLength = 0;
    let isInspecting = true;
    const others = (async () => {
      while (isInspecting) {
        const before = performance.now();
        await bench.redis.ping();
        maxLength = Math.max(maxLength, performance.now() - before);
      }
    })();
    expect(await inspection()).toMatchObject({ notFound: { proven: false } });
    const first = proxy.roundTrips;
    expect(await inspection()).toMatchObject({ snapshot: { status: "succeeded" } });
    isInspecting = false;
    await others;
    expect(maxLength).toBeLessThan(250);
    // The second reads what the first one left, which is less.
    expect(proxy.roundTrips - first).toBeLessThan(first);
  });

  it("sees a job that its worker lost as running until another takes it", async () => {
    const worker = await bench.workAlone("plain", { concurrency: 1, lockMs: 1_000 });
    const stuck = await bench.start("runs-until-cancelled", { ms: 60_000 });
    await bench.seen(stuck.ref, "it runs", ({ status }) => status === "running");
    await worker.kill();
    await until("the lock is gone", async () =>
      (await bench.redis.exists(`${bench.queue.toKey(stuck.id)}:lock`)) === 0 ? true : undefined,
    );
    expect(snapshotOf(await bench.inspect(stuck.ref)).status).toBe("running");
  });
});
