import { afterAll, beforeAll, describe } from "@jest/globals";
import { describeMoto, type MotoBench, motoBench } from "../moto-bench.ts";
import { testPipelines } from "./pipelines.ts";
import { testPush } from "./push.ts";
import { testSharedQueue } from "./shared-queue.ts";

describeMoto("served from a configuration file alone", () => {
  let bench: MotoBench;
  const getBench = (): MotoBench => bench;
  beforeAll(async () => {
    bench = await motoBench();
  }, 90_000);
  afterAll(() => bench?.stop());

  describe("machines", () => testPipelines(getBench));
  describe("a queue", () => testPush(getBench));
  describe("a queue that three servers share", () => testSharedQueue(getBench));
});
