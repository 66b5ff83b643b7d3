import { afterEach, beforeEach, expect, it } from "@jest/globals";
import type { BridgeError, ExecutionUpdate } from "@taskbridge/core/adapter";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { describeRedis, newKey, type RedisBench, redisBench, until } from "./redis-bench.ts";

const targetOf = (bench: RedisBench, job: string) => bench.adapter.parseTarget({ queue: bench.queueName, job });
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: BridgeError) => error,
  );

describeRedis(
  "an outage",
  () => {
    let bench: RedisBench;
    beforeEach(async () => {
      bench = await redisBench({ appendOnly: true, flags: ["--appendfsync", "always"] });
    });
    afterEach(() => bench.close());

    it("at boot refuses calls at once, and is over when Redis comes", async () => {
      await bench.server?.kill();
      const adapter = bench.connect();
      const request = { key: newKey(), target: targetOf(bench, "build"), input: "{}", attempt: 1 };
      expect(await errorOf(adapter.start(request, bench.context()))).toMatchObject({
        code: "unavailable",
        notSent: true,
      });
      expect(
        await errorOf(
          adapter.watch({ targets: [request.target], sink: async () => {}, ended: () => {} }, bench.context()),
        ),
      ).toMatchObject({ code: "unavailable" });
      expect(await adapter.check([request.target], bench.context())).toMatchObject([
        { level: "error", path: "url", message: expect.stringContaining(`127.0.0.1:${bench.server?.port}`) },
      ]);
      await bench.server?.restart();
      await until("it starts", async () => adapter.start(request, bench.context()).catch(() => undefined));
      expect(await bench.added()).toEqual([request.key]);
    });

    it("in the middle loses no job, no news and no marker, and needs no restart of ours", async () => {
      const updates: ExecutionUpdate[] = [];
      const errors: BridgeError[] = [];
      const subscription = await bench.adapter.watch(
        {
          targets: [targetOf(bench, "succeeds")],
          sink: async (update) => {
            updates.push(...update);
          },
          ended: (error) => errors.push(error),
        },
        bench.context(),
      );
      const started = await bench.start("succeeds");
      const cancelled = await bench.start("succeeds");
      await bench.adapter.cancel(cancelled.ref, "enough", bench.context());
      await bench.server?.kill();
      expect(
        await errorOf(bench.adapter.inspect([{ ref: started.ref, want: "status" }], bench.context())),
      ).toMatchObject({ code: "unavailable" });
      await bench.server?.restart();
      await bench.workAlone("plain");
      await until("the end is told", async () =>
        updates.find(({ key, snapshot }) => key === started.id && snapshot?.status === "succeeded"),
      );
      expect(errors).toEqual([]);
      expect(await bench.inspect(cancelled.ref)).toMatchObject({ snapshot: { status: "cancelled" } });
      expect(await bench.journal()).toEqual([`${started.id} 1`]);
      await subscription.close();
    });

    it.each(["start", "removal"])(
      "of one answer at the first use of a queue, by a %s, is over with the next call",
      async (first) => {
        const { ref } = await bench.start("succeeds");
        const { adapter, proxy } = await bench.behindProxy();
        let inquiries = 0;
        const use = async () => {
          const request = { key: newKey(), target: targetOf(bench, "build"), input: "{}", attempt: 1 };
          await (first === "start" ? adapter.start(request, bench.context()) : adapter.forget(ref, bench.context()));
        };
        // ioredis asks for it with each connection, BullMQ once, on that connection, by itself.
        proxy.set({ losesAnswer: (request) => `${request}` === "*1\r\n$4\r\ninfo\r\n" && ++inquiries === 2 });
        expect(await errorOf(use())).toMatchObject({ code: "unavailable", notSent: true });
        expect(proxy.lostAnswers).toBe(1);
        proxy.set({});
        await until("it is used", async () =>
          use().then(
            () => true,
            () => undefined,
          ),
        );
        expect(await bench.queue.getJobCounts("waiting")).toEqual({ waiting: first === "start" ? 2 : 0 });
      },
    );

    it.each(["client", "settings"])(
      "that has spoilt a queue of theirs for good is over with the next call: its %s will do",
      async (kind) => {
        const { proxy } = await bench.behindProxy();
        let isOver = false;
        // BullMQ has no way to close a queue that it could not make ready.
        const retryStrategy = () => (isOver ? null : 50);
        const theirSettings = { host: proxy.host, port: proxy.port, maxRetriesPerRequest: 0, retryStrategy };
        const theirClient = new Redis({ ...theirSettings, disconnectTimeout: 100 });
        theirClient.on("error", () => {});
        await until("they are connected", async () => (theirClient.status === "ready" ? true : undefined));
        let inquiries = kind === "client" ? 1 : 0;
        proxy.set({ losesAnswer: (request) => `${request}` === "*1\r\n$4\r\ninfo\r\n" && ++inquiries === 2 });
        const connection = kind === "client" ? theirClient : theirSettings;
        const theirs = new Queue(bench.queueName, { connection, prefix: bench.prefix });
        theirs.on("error", () => {});
        await expect(theirs.waitUntilReady()).rejects.toThrow();
        proxy.set({});
        const adapter = bench.connect({ queues: [theirs] });
        const request = { key: newKey(), target: targetOf(bench, "build"), input: "{}", attempt: 1 };
        await until("it starts", async () => adapter.start(request, bench.context()).catch(() => undefined));
        expect(await bench.added()).toEqual([request.key]);
        isOver = true;
        theirClient.disconnect();
      },
    );

    it("with a queue of theirs that was never ready fails calls at once", async () => {
      await bench.server?.kill();
      const { hostname: host, port } = new URL(bench.url);
      const theirClient = new Redis({ host, port: Number(port), maxRetriesPerRequest: null, disconnectTimeout: 100 });
      theirClient.on("error", () => {});
      const theirs = new Queue(bench.queueName, { connection: theirClient, prefix: bench.prefix });
      theirs.on("error", () => {});
      const adapter = bench.connect({ queues: [theirs] });
      const request = { key: newKey(), target: targetOf(bench, "build"), input: "{}", attempt: 1 };
      expect(await errorOf(adapter.start(request, bench.context()))).toMatchObject({
        message: "Redis cannot be reached: ECONNREFUSED",
        notSent: true,
      });
      theirClient.disconnect();
    });

    it("that only silences Redis ends calls by their signal", async () => {
      const { ref } = await bench.start("succeeds");
      bench.server?.pause();
      const before = Date.now();
      const soon = () => bench.context(AbortSignal.timeout(100));
      expect(await errorOf(bench.adapter.inspect([{ ref, want: "status" }], soon()))).toMatchObject({
        code: "unavailable",
      });
      expect(await errorOf(bench.adapter.cancel(ref, "enough", soon()))).toMatchObject({ code: "outcome_unknown" });
      expect(Date.now() - before).toBeLessThan(2_000);
      bench.server?.resume();
      // The cancel was on its way.
      expect(await bench.ended(ref)).toMatchObject({ status: "cancelled" });
    });
  },
  true,
);

describeRedis(
  "a Redis with settings of its own",
  () => {
    it("that wants another password is denied, without showing one", async () => {
      const bench = await redisBench({ password: "right" });
      try {
        const adapter = bench.connect({ url: bench.url.replace("right", "wrong-secret") });
        const request = { key: newKey(), target: targetOf(bench, "build"), input: "{}", attempt: 1 };
        const error = await errorOf(adapter.start(request, bench.context()));
        expect(error).toMatchObject({ code: "denied", notSent: true });
        const [finding] = await adapter.check([request.target], bench.context());
        expect(finding).toMatchObject({ level: "error", message: expect.stringContaining("WRONGPASS") });
        expect(error?.message).toBe("Redis refuses: WRONGPASS");
        expect(bench.logged.map(([text]) => text)).toContainEqual(
          expect.stringContaining(`start: Redis at 127.0.0.1:${bench.server?.port}: WRONGPASS`),
        );
        expect(`${JSON.stringify(bench.logged)} ${finding?.message}`).not.toContain("wrong-secret");
      } finally {
        await bench.close();
      }
    });

    it("that may evict jobs is warned about, and one that is full refuses without doubt", async () => {
      const bench = await redisBench({ flags: ["--maxmemory-policy", "allkeys-lru"] });
      try {
        const findings = await bench.adapter.check([targetOf(bench, "build")], bench.context());
        expect(findings).toContainEqual(
          expect.objectContaining({ level: "warning", path: "url", message: expect.stringContaining("allkeys-lru") }),
        );
        await bench.redis.config("SET", "maxmemory-policy", "noeviction");
        await bench.redis.config("SET", "maxmemory", "1");
        expect(await errorOf(bench.start("build"))).toMatchObject({ code: "unavailable", notSent: true });
        await bench.redis.config("SET", "maxmemory", "0");
      } finally {
        await bench.close();
      }
    });
  },
  true,
);
