import { afterAll, afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { isBridgeError, type StartKey } from "@taskbridge/core/adapter";
import { Queue } from "bullmq";
import type { BullmqAdapter } from "../src/index.ts";
import { parseTarget } from "../src/settings/parse-target.ts";
import { parseStart } from "../src/start-job.ts";
import { closeShared, describeRedis, newKey, type RedisBench, redisBench, until } from "./redis-bench.ts";

const errorOf = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  if (!isBridgeError(error)) throw new Error(`a BridgeError was expected, got ${JSON.stringify(error)}`);
  return { code: error.code, notSent: error.notSent, message: error.message };
};

afterAll(closeShared);

it.each(["7", "12345", "a:b:c", "a:b", "MCP-1", "1e3", "", "-a"])(
  "refuses %j, which BullMQ takes for an ID or not",
  (key) => {
    const request = { key: key as StartKey, target: parseTarget({ queue: "q" }), input: "{}", attempt: 1 };
    expect(() => parseStart(request, request.target, {})).toThrow("start key");
  },
);

describeRedis("a start", () => {
  let bench: RedisBench;
  beforeEach(async () => {
    bench = await redisBench();
  });
  afterEach(() => bench.close());

  it("adds the input as the job's data, and keeps what ends", async () => {
    const { id, snapshot } = await bench.start("build", { customer: 7 });
    const job = await bench.queue.getJob(id);
    expect(job?.name).toBe("build");
    expect(job?.data).toEqual({ customer: 7 });
    expect(job?.opts).toMatchObject({ removeOnComplete: false, removeOnFail: false });
    expect(snapshot?.status).toBe("queued");
  });

  it("takes over the tool's job options, and those of all tools", async () => {
    const adapter = bench.connect({ jobOptions: { attempts: 5, priority: 3 } });
    const target = adapter.parseTarget({
      queue: bench.queueName,
      job: "build",
      options: { attempts: "4", backoff: { type: "exponential", delay: 50, jitter: 0.5 }, delay: 60_000, keepLogs: 9 },
    });
    const key = newKey();
    await adapter.start({ key, target, input: "{}", attempt: 1 }, bench.context());
    const job = await bench.queue.getJob(key);
    expect(job?.opts).toMatchObject({
      attempts: 4,
      priority: 3,
      delay: 60_000,
      backoff: { type: "exponential", delay: 50, jitter: 0.5 },
      keepLogs: 9,
    });
  });

  it("leaves the queue's own settings alone", async () => {
    const theirs = new Queue("settings", {
      connection: bench.redis,
      prefix: bench.prefix,
      streams: { events: { maxLen: 77 } },
    });
    await theirs.waitUntilReady();
    await until("the settings are written", async () => (await theirs.getMeta()).maxLenEvents);
    const target = bench.adapter.parseTarget({ queue: "settings" });
    await bench.adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, bench.context());
    expect(await theirs.getMeta()).toMatchObject({ maxLenEvents: 77 });
  });

  it("recognises its job although the job's data were changed", async () => {
    const key = newKey();
    const request = {
      key,
      target: bench.adapter.parseTarget({ queue: bench.queueName }),
      input: '{"n":1}',
      attempt: 1,
    };
    const { ref } = await bench.adapter.start(request, bench.context());
    const job = await bench.queue.getJob(key);
    await job?.updateData({ step: 2 });
    expect((await bench.adapter.start({ ...request, attempt: 2, firstSentAt: Date.now() }, bench.context())).ref).toBe(
      ref,
    );
    expect(await errorOf(bench.adapter.start({ ...request, input: '{"n":2}' }, bench.context()))).toMatchObject({
      code: "conflict",
    });
    const other = bench.adapter.parseTarget({ queue: bench.queueName, job: "another" });
    expect(await errorOf(bench.adapter.start({ ...request, target: other }, bench.context()))).toMatchObject({
      code: "conflict",
    });
  });

  it("refuses a job that deduplication would swallow, naming the one that is there", async () => {
    const options = { deduplication: { id: "customer-7" } };
    const first = await bench.start("build", {}, options);
    const error = await errorOf(bench.start("build", {}, options));
    expect(error).toMatchObject({ code: "conflict", notSent: true });
    expect(error.message).toContain(first.id);
    const request = {
      key: first.id as StartKey,
      target: bench.adapter.parseTarget({ queue: bench.queueName, job: "build", options }),
      input: "{}",
      attempt: 2,
      firstSentAt: Date.now(),
    };
    expect((await bench.adapter.start(request, bench.context())).ref).toBe(first.ref);
  });

  it("refuses an input over the size limit without sending it", async () => {
    const error = await errorOf(bench.start("build", { text: "é".repeat(50) }, { sizeLimit: 100 }));
    expect(error).toMatchObject({ code: "invalid_input", notSent: true });
    expect(error.message).toContain("111 bytes");
    expect(await bench.added()).toEqual([]);
  });

  it("adds nothing when its start is repeated after it was cancelled, by whoever", async () => {
    const { id, ref } = await bench.start("build", { n: 1 });
    await bench.adapter.cancel(ref, "not needed", bench.context());
    // As a start would arrive that was sent before and delayed on its way.
    await bench.queue.add("build", { n: 1 }, { jobId: id });
    expect(await bench.queue.getJobCounts()).toMatchObject({ waiting: 0 });
    expect(await bench.inspect(ref)).toEqual({
      snapshot: { status: "cancelled", failure: { kind: "job", reason: "not needed" }, questions: [] },
    });
    await bench.adapter.forget(ref, bench.context());
    expect(await bench.redis.keys(`${bench.prefix}:*${id}*`)).toEqual([]);
    expect(await bench.redis.exists(bench.queue.toKey("tb:cancelling"))).toBe(0);
  });

  it("adds nothing after a cancel that was broken off between the removal and word of it, once somebody has looked", async () => {
    const { id, ref } = await bench.start("build", { n: 1 });
    await bench.redis.hset(bench.queue.toKey("tb:cancelling"), id, "not needed");
    await bench.queue.remove(id);
    const gone = { snapshot: { status: "cancelled", failure: { kind: "job", reason: "not needed" }, questions: [] } };
    expect(await bench.inspect(ref)).toEqual(gone);
    await bench.queue.add("build", { n: 1 }, { jobId: id });
    expect(await bench.queue.getJobCounts()).toMatchObject({ waiting: 0 });
    expect(await bench.inspect(ref)).toEqual(gone);
    expect(await bench.redis.exists(bench.queue.toKey("tb:cancelling"))).toBe(0);
  });

  it("starts each once although a third of the answers are lost", async () => {
    const { adapter, proxy } = await bench.behindProxy();
    let seed = 7;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    const target = adapter.parseTarget({ queue: bench.queueName, job: "build" });
    // Warm, so that what is lost are answers to starts.
    await adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, bench.context());
    proxy.set({ losesAnswer: (request) => request.includes("mcp-") && random() < 0.3 });
    const codes = new Set<string>();
    const keys = Array.from({ length: 60 }, newKey);
    const start = async (key: StartKey) => {
      const first = { key, target, input: "{}", attempt: 1 };
      const repeated = { ...first, attempt: 2, firstSentAt: Date.now() };
      for (let attempt = 1; attempt <= 50; attempt++) {
        try {
          return await adapter.start(attempt === 1 ? first : repeated, bench.context());
        } catch (error) {
          if (!isBridgeError(error)) throw error;
          codes.add(error.code);
        }
      }
      throw new Error("never answered");
    };
    for (const key of keys) await start(key);
    expect(proxy.lostAnswers).toBeGreaterThan(10);
    expect([...codes].sort()).toEqual(expect.arrayContaining(["outcome_unknown"]));
    const added = await bench.added();
    expect(added).toHaveLength(61);
    expect(new Set(added).size).toBe(61);
  });

  describe("that is repeated when its job is gone", () => {
    const requestOf = (attempt: number, key = newKey(), job = "succeeds") => {
      const target = bench.adapter.parseTarget({ queue: bench.queueName, job });
      return { key, target, input: "{}", attempt, ...(attempt > 1 ? { firstSentAt: Date.now() } : {}) };
    };
    const again = (request: ReturnType<typeof requestOf>) => ({ ...request, attempt: 2, firstSentAt: Date.now() });
    const longAgo = () => Date.now() - 3_600_000;
    const runsOf = async (id: string) => (await bench.journal()).filter((line) => line.startsWith(id)).length;
    const findIn = (
      adapter: BullmqAdapter,
      { key, target }: ReturnType<typeof requestOf>,
      firstSentAt: number = Date.now(),
    ) => adapter.find({ key, target, firstSentAt }, bench.context());
    /** As if its server had lost events that were there. */
    const dropOldEvents = async () => {
      const events = bench.queue.toKey("events");
      await bench.redis.xadd(events, "1-2", "event", "old");
      await bench.redis.xtrim(events, "MINID", "1-2");
    };
    /** Its job runs and is trimmed by the retention of another one, and the answer to the start never comes. */
    const loseAnswer = async () => {
      const { adapter, proxy } = await bench.behindProxy();
      const request = requestOf(1);
      await adapter.start(requestOf(1, undefined, "nothing"), bench.context());
      proxy.set({ losesAnswer: (sent) => sent.includes(request.key) });
      expect(await errorOf(adapter.start(request, bench.context()))).toMatchObject({ code: "outcome_unknown" });
      proxy.set({});
      await bench.work("plain", 1);
      // Of two jobs that end in the same millisecond BullMQ may keep either.
      await until(
        "it has ended",
        async () => (await bench.queue.getJobState(request.key)) === "completed" || undefined,
      );
      await bench.queue.add("succeeds", {}, { removeOnComplete: { count: 1 } });
      await until("it is trimmed", async () =>
        (await bench.redis.exists(bench.queue.toKey(request.key))) === 0 ? true : undefined,
      );
      return { adapter, request };
    };
    /** Sent, but cut off on its way. */
    const loseRequest = async () => {
      const { adapter, proxy } = await bench.behindProxy();
      const request = requestOf(1);
      await adapter.start(requestOf(1, undefined, "nothing"), bench.context());
      proxy.set({ frozen: true });
      const error = await errorOf(adapter.start(request, bench.context(AbortSignal.timeout(100))));
      expect(error).toMatchObject({ code: "outcome_unknown" });
      proxy.cut();
      proxy.set({});
      return { adapter, request };
    };

    beforeEach(() => bench.ageEvents());

    it.each([
      ["with the whole queue", () => bench.queue.obliterate({ force: true })],
      ["alone", () => bench.redis.del(bench.queue.toKey("events"))],
    ])("is unknown, and not run again, when the events were removed %s", async (_name, remove) => {
      const { request } = await loseAnswer();
      await remove();
      for (const isNewStream of [false, true]) {
        if (isNewStream) await bench.queue.add("other", {}, { delay: 60_000 });
        for (const one of [bench.adapter, bench.connect()]) {
          expect(await errorOf(one.start(again(request), bench.context()))).toMatchObject({ code: "outcome_unknown" });
          expect(await errorOf(findIn(one, request))).toMatchObject({ code: "outcome_unknown" });
        }
      }
      expect(await runsOf(request.key)).toBe(1);
    });

    it.each([-90_000, 90_000])("is known where the engine's clock is %i ms off", async (offMs) => {
      const { request } = await loseAnswer();
      const context = { ...bench.context(), now: () => Date.now() + offMs };
      const repeated = { ...request, attempt: 2, firstSentAt: Date.now() + offMs };
      const { snapshot } = await bench.connect().start(repeated, context);
      expect(snapshot?.status).toBe("succeeded");
      expect(await runsOf(request.key)).toBe(1);
    });

    it("is known by its end among the events, and runs once, whoever repeats it", async () => {
      const { adapter, request } = await loseAnswer();
      for (const one of [adapter, bench.connect()]) {
        const repeated = await until("it is answered", () =>
          one.start(again(request), bench.context()).catch((error: unknown) => {
            if (isBridgeError(error) && error.code === "unavailable") return undefined;
            throw error;
          }),
        );
        expect(repeated.snapshot).toMatchObject({ status: "succeeded", output: { value: { files: 14 } } });
        expect(await findIn(one, request)).toBe(repeated.ref);
      }
      expect(await bench.added()).toHaveLength(3);
      expect(await runsOf(request.key)).toBe(1);
    });

    it("is known though it was removed before it ended", async () => {
      const { ref, id } = await bench.start("build");
      await bench.queue.remove(id);
      const request = requestOf(2, id as StartKey, "build");
      expect(await bench.connect().start(request, bench.context())).toEqual({ ref });
      expect(await bench.queue.getWaitingCount()).toBe(0);
    });

    it("is unknown, and not run again, when the events do not go back so far", async () => {
      const { adapter, request } = await loseAnswer();
      await bench.redis.xtrim(bench.queue.toKey("events"), "MAXLEN", 1);
      await bench.redis.xadd(bench.queue.toKey("events"), "*", "event", "drained");
      for (const one of [adapter, bench.connect()]) {
        const error = await until("it is answered", async () => {
          const { code, message } = await errorOf(
            one.start({ ...again(request), firstSentAt: longAgo() }, bench.context()),
          );
          return code === "unavailable" ? undefined : { code, message };
        });
        expect(error).toEqual({ code: "outcome_unknown", message: expect.stringContaining("do not go back so far") });
        expect(await errorOf(findIn(one, request, longAgo()))).toMatchObject({ code: "outcome_unknown" });
      }
      expect(await bench.queue.getJobCountByTypes("waiting", "active")).toBe(0);
      expect(await runsOf(request.key)).toBe(1);
    });

    it("is sent again when it certainly has not arrived", async () => {
      const { adapter, request } = await loseRequest();
      expect(await bench.added()).not.toContain(request.key);
      expect(await findIn(bench.adapter, request)).toBeUndefined();
      await until("it is started", () => adapter.start(again(request), bench.context()).catch(() => undefined));
      // By a process that knows of no earlier send, but sees all events that ever were.
      const other = requestOf(2);
      await bench.connect().start(other, bench.context());
      expect(await bench.added()).toEqual(expect.arrayContaining([request.key, other.key]));
    });

    it("is sent again by whoever repeats it, where all events since its first send are there", async () => {
      await dropOldEvents();
      const { adapter, request } = await loseRequest();
      await until("it is started", () => adapter.start(again(request), bench.context()).catch(() => undefined));
      const other = requestOf(2);
      await bench.connect().start(other, bench.context());
      // Before the oldest event that is left.
      const earlier = { ...requestOf(2), firstSentAt: 1 };
      expect(await errorOf(bench.connect().start(earlier, bench.context()))).toMatchObject({ code: "outcome_unknown" });
      expect(await bench.added()).toEqual(expect.arrayContaining([request.key, other.key]));
      expect(await bench.added()).not.toContain(earlier.key);
    });

    it("is sent like a first one when no earlier send can have arrived", async () => {
      await dropOldEvents();
      const { firstSentAt: _none, ...request } = requestOf(2);
      await bench.connect().start(request, bench.context());
      expect(await bench.added()).toContain(request.key);
    });
  });

  it("is given up by its signal, as unknown once it was sent", async () => {
    const { adapter, proxy } = await bench.behindProxy();
    const target = adapter.parseTarget({ queue: bench.queueName });
    await adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, bench.context());
    proxy.set({ frozen: true });
    const request = { key: newKey(), target, input: "{}", attempt: 1 };
    const error = await errorOf(adapter.start(request, bench.context(AbortSignal.timeout(100))));
    expect(error).toMatchObject({ code: "outcome_unknown", notSent: false });
  });

  it("is given up by its signal, as not sent, while the first connection hangs", async () => {
    const { adapter, proxy } = await bench.behindProxy();
    proxy.set({ frozen: true });
    const target = adapter.parseTarget({ queue: bench.queueName });
    const request = { key: newKey(), target, input: "{}", attempt: 1 };
    const error = await errorOf(adapter.start(request, bench.context(AbortSignal.timeout(100))));
    expect(error).toMatchObject({ code: "unavailable", notSent: true });
    proxy.set({});
    // Nothing of it comes later.
    await adapter.start({ ...request, key: newKey() }, bench.context());
    expect(await bench.added()).toHaveLength(1);
  });

  it("goes to the address in the connection's settings, whatever listens at the usual one", async () => {
    const { hostname } = new URL(bench.url);
    const secret = "wrong-secret";
    const adapter = bench.connect({ connection: { url: bench.url, port: 1 } });
    const target = adapter.parseTarget({ queue: bench.queueName, job: "build" });
    await adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, bench.context());
    expect(await bench.queue.getWaitingCount()).toBe(1);
    const nowhere = bench.connect({ connection: { url: `redis://:${secret}@${hostname}:1/3` } });
    const request = { key: newKey(), target: nowhere.parseTarget({ queue: "q" }), input: "{}", attempt: 1 };
    const { code, message } = await errorOf(nowhere.start(request, bench.context()));
    expect(code).toBe("unavailable");
    expect(message).toBe("Redis cannot be reached: ECONNREFUSED");
    const [reported] = bench.logged.at(-1) ?? [];
    expect(reported).toContain(`start: Redis at ${hostname}:1/3: `);
    expect(reported).not.toContain(secret);
  });

  it("uses a queue and a connection that are there already, and leaves them open", async () => {
    const withQueue = bench.connect({ queues: [bench.queue] });
    const withClient = bench.connect({ connection: bench.redis });
    for (const adapter of [withQueue, withClient]) {
      const target = adapter.parseTarget({ queue: bench.queueName, job: "build" });
      const { ref } = await adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, bench.context());
      expect(await adapter.inspect([{ ref, want: "status" }], bench.context())).toMatchObject([
        { snapshot: { status: "queued" } },
      ]);
      await adapter.close();
    }
    expect(await bench.queue.getWaitingCount()).toBe(2);
    const elsewhere = { key: newKey(), target: withQueue.parseTarget({ queue: "elsewhere" }), input: "{}", attempt: 1 };
    const other = bench.connect({ queues: [bench.queue] });
    expect(await errorOf(other.start(elsewhere, bench.context()))).toMatchObject({ code: "misconfigured" });
  });
});
