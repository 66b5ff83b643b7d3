import { afterEach, beforeEach, expect, it } from "@jest/globals";
import type { BridgeError } from "@taskbridge/core/adapter";
import { describeRedis, type RedisBench, redisBench, until } from "./redis-bench.ts";

describeRedis(
  "a subscription",
  () => {
    let bench: RedisBench;
    beforeEach(async () => {
      bench = await redisBench();
    });
    afterEach(() => bench.close());

    it("ends with `unavailable` when Redis does not come back", async () => {
      const errors: BridgeError[] = [];
      const target = bench.adapter.parseTarget({ queue: bench.queueName, job: "succeeds" });
      await bench.adapter.watch(
        { targets: [target], sink: async () => {}, ended: (error) => errors.push(error) },
        bench.context(),
      );
      await bench.server?.kill();
      await until("it ends", async () => errors[0], 30_000);
      expect(errors[0]).toMatchObject({ code: "unavailable", operation: "watch" });
    }, 40_000);
  },
  true,
);
