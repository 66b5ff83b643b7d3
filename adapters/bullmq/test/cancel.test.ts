import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import { FlowProducer } from "bullmq";
import { toRef } from "../src/execution-ref.ts";
import { closeShared, describeRedis, newKey, type RedisBench, redisBench, until } from "./redis-bench.ts";

afterAll(closeShared);

describeRedis("a cancel", () => {
  let bench: RedisBench;
  beforeEach(async () => {
    bench = await redisBench();
  });
  afterEach(() => bench.close());

  const cancel = (ref: Parameters<RedisBench["inspect"]>[0]) => bench.adapter.cancel(ref, "enough", bench.context());

  it.each([
    ["waiting", {}],
    ["delayed", { delay: 60_000 }],
    ["prioritized", { priority: 5 }],
  ])("removes a job that is %s", async (_state, options) => {
    const { ref, id } = await bench.start("succeeds", {}, options);
    await cancel(ref);
    await cancel(ref);
    expect(await bench.inspect(ref)).toMatchObject({
      snapshot: { status: "cancelled", failure: { reason: "enough" } },
    });
    expect(await bench.queue.getJobCountByTypes("waiting", "delayed", "prioritized")).toBe(0);
    expect(await bench.queue.getJobState(id)).toBe("unknown");
    await bench.work("plain");
    const after = await bench.start("succeeds");
    await bench.ended(after.ref);
    expect(await bench.journal()).toEqual([`${after.id} 1`]);
  });

  it("has BullMQ remove a waiting job without a search of its lists, which may be long", async () => {
    const { ref, id } = await bench.start("build");
    await bench.adapter.cancel(ref, "enough", bench.context());
    const events = await bench.redis.xrevrange(bench.queue.toKey("events"), "+", "-", "COUNT", 1);
    expect(events[0]?.[1]).toEqual(["event", "removed", "jobId", id, "prev", "delayed"]);
  });

  it("reaches the worker process that holds the job (case 12)", async () => {
    await bench.work("helper");
    const { ref, id } = await bench.start("runs-until-cancelled", {}, { attempts: 5 });
    await until("its processor runs", async () => ((await bench.journal()).length > 0 ? true : undefined));
    await cancel(ref);
    expect(await bench.ended(ref)).toMatchObject({ status: "cancelled", failure: { reason: "cancelled: enough" } });
    expect(await bench.journal()).toEqual([`${id} 1`]);
  });

  it("tells the truth about a worker that finishes all the same", async () => {
    await bench.work("helper");
    const { ref } = await bench.start("stubborn");
    await until("its processor runs", async () => ((await bench.journal()).length > 0 ? true : undefined));
    await cancel(ref);
    expect(await bench.ended(ref)).toMatchObject({ status: "succeeded", output: { value: "finished all the same" } });
  });

  it("lets a job go on whose worker has no helper, and says so", async () => {
    await bench.work("plain");
    const { ref } = await bench.start("runs-until-cancelled", { ms: 500 });
    await bench.seen(ref, "it runs", ({ status }) => status === "running");
    await cancel(ref);
    expect(bench.logged.map(([message]) => message).join()).toContain("worker helper");
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "running" } });
    expect((await bench.ended(ref)).status).toBe("succeeded");
  });

  it("removes the job of such a worker once it is given back for another attempt", async () => {
    await bench.work("plain");
    const { ref, id } = await bench.start("fails", {}, { attempts: 100, backoff: 200 });
    await until("it is tried", async () => ((await bench.journal()).length > 0 ? true : undefined));
    // As if the worker held it at this moment, of which there are few.
    await bench.redis.set(`${bench.queue.toKey(id)}:lock`, "a worker", "PX", 100);
    await cancel(ref);
    expect(await bench.ended(ref)).toMatchObject({ status: "cancelled" });
    expect((await bench.queue.getJob(id))?.name).toBe("cancelled");
  });

  it("wins or loses against workers that take the job, and never half", async () => {
    await bench.queue.pause();
    await bench.work("plain", 8);
    const started = await Promise.all(Array.from({ length: 80 }, () => bench.start("succeeds")));
    // Workers begin with the oldest; so that both win some, the newest go before they come, and the others once they are at it.
    const [newest, others] = [started.slice(70), started.slice(0, 70)];
    await Promise.all(newest.map(({ ref }) => cancel(ref)));
    await bench.queue.resume();
    await until("workers are at it", async () => ((await bench.journal()).length > 0 ? true : undefined));
    await Promise.all(others.reverse().map(({ ref }) => cancel(ref)));
    const ends = await Promise.all(
      started.map(async ({ ref, id }) => ({ id, status: (await bench.ended(ref)).status })),
    );
    const ran = new Set((await bench.journal()).map((line) => line.split(" ")[0]));
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["cancelled", "succeeded"]));
    for (const { id, status } of ends)
      expect({ id, status, ran: ran.has(id) }).toEqual({ id, status, ran: status === "succeeded" });
  });

  it("leaves no moment in which a worker can take the job and its result be thrown away", async () => {
    await bench.work("plain");
    await bench.queue.pause();
    const { ref } = await bench.start("succeeds");
    const { adapter, proxy } = await bench.behindProxy();
    await adapter.inspect([{ ref, want: "status" }], bench.context());
    // Between the adapter's first request and its second there is time for a job to be done.
    proxy.set({ delayMs: 300 });
    const cancelling = adapter.cancel(ref, "enough", bench.context());
    await until("the first has arrived", async () =>
      (await bench.redis.exists(bench.queue.toKey("tb:cancelling"))) === 1 ? true : undefined,
    );
    await bench.queue.resume();
    const { ref: other } = await bench.start("succeeds");
    await bench.ended(other);
    await cancelling;
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "cancelled" } });
    expect(await bench.journal()).toHaveLength(1);
  });

  it("reaches children in queues that it was not given, over the connection of their parent's", async () => {
    const flows = new FlowProducer({ connection: bench.redis, prefix: bench.prefix });
    const id = newKey();
    const child = { name: "chapter", queueName: "parts", data: {} };
    await flows.add({
      name: "succeeds",
      queueName: bench.queueName,
      data: {},
      opts: { jobId: id },
      children: [{ ...child, children: [{ ...child, queueName: "lines" }] }, child],
    });
    const adapter = bench.connect({ queues: [bench.queue] });
    const ref = toRef({ prefix: bench.prefix, queue: bench.queueName, id });
    expect(await adapter.inspect([{ ref, want: "detail" }], bench.context())).toMatchObject([
      { snapshot: { children: [{ name: "chapter" }, { name: "chapter" }] } },
    ]);
    await adapter.cancel(ref, "enough", bench.context());
    for (const name of ["parts", "lines"]) {
      expect(await bench.redis.llen(`${bench.prefix}:${name}:wait`)).toBe(0);
      expect(await bench.redis.zcard(`${bench.prefix}:${name}:waiting-children`)).toBe(0);
    }
    await flows.close();
  });

  it.each(["", "-other"])("removes a child whose ID has three parts from the list that it is in%s", async (other) => {
    const flows = new FlowProducer({ connection: bench.redis, prefix: bench.prefix });
    const id = newKey();
    const prefix = `${bench.prefix}${other}`;
    const child = { name: "chapter", queueName: "parts", prefix, data: {}, opts: { jobId: "book:one:two" } };
    await flows.add({
      name: "succeeds",
      queueName: bench.queueName,
      data: {},
      opts: { jobId: id },
      children: [child],
    });
    const ref = toRef({ prefix: bench.prefix, queue: bench.queueName, id });
    expect(await bench.inspect(ref, "detail")).toMatchObject({
      snapshot: { children: [{ name: "chapter", status: "queued" }] },
    });
    await cancel(ref);
    expect(await bench.redis.lrange(`${prefix}:parts:wait`, 0, -1)).toEqual([]);
    expect(await bench.redis.keys(`${prefix}:parts:book*`)).toEqual([]);
    await flows.close();
  });

  it("stops a flow: the parent, and the children that wait or run", async () => {
    await bench.work("helper");
    const flows = new FlowProducer({ connection: bench.redis, prefix: bench.prefix });
    const id = newKey();
    const child = (name: string, opts = {}) => ({ name, queueName: bench.queueName, data: {}, opts });
    const { children = [] } = await flows.add({
      name: "succeeds",
      queueName: bench.queueName,
      data: {},
      opts: { jobId: id },
      children: [
        child("runs-until-cancelled"),
        { ...child("succeeds"), children: [child("succeeds", { delay: 60_000 })] },
        child("succeeds"),
      ],
    });
    const ids = children.map(({ job }) => job.id ?? "");
    const [held = "", waiting = "", finished = ""] = ids;
    await until("one child runs and one has finished", async () =>
      (await bench.queue.getJobState(held)) === "active" && (await bench.queue.getJobState(finished)) === "completed"
        ? true
        : undefined,
    );
    const ref = toRef({ prefix: bench.prefix, queue: bench.queueName, id });
    await cancel(ref);
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "cancelled" } });
    await until("the running child is stopped", async () =>
      (await bench.queue.getJobState(held)) === "failed" ? true : undefined,
    );
    expect(await bench.queue.getJob(waiting)).toBeUndefined();
    expect(await bench.queue.getDelayedCount()).toBe(0);
    // Not ours to remove: what has finished stays as long as its own options say.
    expect(await bench.queue.getJobState(finished)).toBe("completed");
    expect((await bench.journal()).filter((line) => line.startsWith(id))).toEqual([]);
    await flows.close();
  });

  it("forgets a job that has ended, and none that a worker holds", async () => {
    await bench.work("helper");
    const { ref, id } = await bench.start("runs-until-cancelled");
    await bench.seen(ref, "it runs", ({ status }) => status === "running");
    await expect(bench.adapter.forget(ref, bench.context())).rejects.toMatchObject({ code: "conflict" });
    await cancel(ref);
    await bench.ended(ref);
    await bench.adapter.forget(ref, bench.context());
    expect(await bench.redis.keys(`${bench.prefix}:*${id}*`)).toEqual([]);
  });
});
