import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import type { PipelineDescription } from "@taskbridge/core/adapter";
import type { BullmqTarget } from "../src/index.ts";
import { closeShared, describeRedis, type RedisBench, redisBench, until } from "./redis-bench.ts";

afterAll(closeShared);

describeRedis("a check", () => {
  let bench: RedisBench;
  beforeEach(async () => {
    bench = await redisBench();
  });
  afterEach(() => bench.close());

  const check = (...queues: string[]) =>
    bench.adapter.check(
      queues.map((queue) => bench.adapter.parseTarget({ queue })),
      bench.context(),
    );

  it("tells server and version, and counts workers", async () => {
    await bench.work("plain");
    expect(await check(bench.queueName, bench.queueName)).toEqual([
      {
        level: "ok",
        path: "url",
        message: expect.stringMatching(/^(Redis|Valkey) \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+$/),
      },
      { level: "ok", path: "targets[0].queue", message: `queue reports (prefix ${bench.prefix}): 1 workers` },
    ]);
  });

  it("warns of what will keep jobs waiting", async () => {
    await bench.queue.pause();
    const messages = (await check("typo", bench.queueName, "{{input.queue}}")).map(
      ({ level, path, message }) => `${level} ${path} ${message}`,
    );
    const all = messages.join("\n");
    expect(all).toMatch(/warning targets\[0\]\.queue .*nobody has used it yet/);
    expect(all).toMatch(/warning targets\[1\]\.queue .*is paused/);
    expect(all).toMatch(/warning targets\[1\]\.queue .*no worker is connected/);
    expect(all).toMatch(/warning targets\[2\]\.queue depends on the input/);
  });

  it.each([
    [{ removeOnComplete: { count: 5 } }, true],
    [{ removeOnComplete: 100 }, true],
    [{ removeOnFail: { age: 3600 } }, true],
    [{ removeOnComplete: true }, false],
    [{ removeOnFail: false }, false],
    [{}, false],
  ])("knows whether jobs with %j trim those of others", async (options, trims) => {
    await bench.queue.add("theirs", {}, options);
    await bench.start("ours");
    const warned = (await check(bench.queueName)).some(({ message }) => message.includes("trims all ended jobs"));
    expect(warned).toBe(trims);
  });
});

describeRedis("a discovery", () => {
  it("lists queues and the names of their jobs, without those that a scheduler makes", async () => {
    const bench = await redisBench();
    try {
      await bench.queue.add("build", {});
      await bench.queue.add("publish", {}, { delay: 60_000 });
      await bench.queue.upsertJobScheduler("nightly", { every: 60_000 }, { name: "backup", data: {} });
      await until("the queue is there", async () =>
        (await bench.redis.exists(bench.queue.toKey("meta"))) === 1 ? true : undefined,
      );
      await bench.redis.hset(`${bench.prefix}:empty:meta`, "opts.maxLenEvents", "10000");
      const found: PipelineDescription<BullmqTarget>[] = [];
      for await (const pipeline of bench.adapter.discover(undefined, bench.context())) found.push(pipeline);
      expect(found.map(({ name, target }) => [name, target])).toEqual([
        ["empty/empty", { queue: "empty", job: "empty" }],
        ["reports/build", { queue: "reports", job: "build" }],
        ["reports/publish", { queue: "reports", job: "publish" }],
      ]);
      const filtered: string[] = [];
      for await (const { name } of bench.adapter.discover("publ", bench.context())) filtered.push(name);
      expect(filtered).toEqual(["reports/publish"]);
    } finally {
      await bench.close();
    }
  });
});
