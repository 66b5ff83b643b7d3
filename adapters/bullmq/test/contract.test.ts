import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "@jest/globals";
import { testAdapter } from "@taskbridge/testkit/adapter";
import { toRef } from "../src/execution-ref.ts";
import { closeShared, describeRedis, type RedisBench, redisBench } from "./redis-bench.ts";

describeRedis("the contract", () => {
  let bench: RedisBench;
  beforeAll(async () => {
    bench = await redisBench();
    await bench.ageEvents();
    await bench.work("helper", 50);
  });
  afterAll(() => bench.close().then(closeShared));

  testAdapter({
    name: "bullmq",
    runner: { describe, it, beforeEach, afterEach, skip: it.skip },
    without: ["heartbeat", "receive"],
    open: async () => {
      const { adapter, proxy } = await bench.behindProxy();
      const { length: before } = await bench.added();
      return {
        adapter,
        target: (kind) => ({ queue: bench.queueName, job: kind }),
        unknownRef: toRef({ prefix: bench.prefix, queue: bench.queueName, id: "mcp-0" }),
        expected: (kind) => (kind === "succeeds" ? { files: 14 } : "x".repeat(200_000)),
        journal: async () => (await bench.added()).length - before,
        stall: async () => proxy.set({ frozen: true }),
        close: proxy.close,
      };
    },
  });
});
