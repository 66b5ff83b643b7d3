import { afterAll, expect, it } from "@jest/globals";
import { type Job, type Processor, Worker } from "bullmq";
import { ask, bridgeProcessor } from "../src/worker.ts";
import { closeShared, describeRedis, redisBench } from "./redis-bench.ts";

afterAll(closeShared);

interface Order {
  readonly customer: string;
}

// Typed like any processor of BullMQ, which has to take it as one.
const processor = bridgeProcessor(async (job: Job<Order, number>, _token, signal) => {
  signal.throwIfAborted();
  if (job.data.customer === "asks") await ask(job, { key: "go", message: "Go?" });
  return job.data.customer.length;
});
const asProcessor: Processor<Order, number> = processor;

it("takes a signal, since BullMQ makes none for processors that do not", () => {
  expect(asProcessor).toHaveLength(3);
});

it("says that it cannot be used where there is no Worker to ask", async () => {
  const sandboxed = { id: "1", progress: 0, data: { customer: "Ada" } } as unknown as Job<Order, number>;
  await expect(processor(sandboxed)).rejects.toThrow("sandboxed processors");
});

describeRedis("a bridged processor", () => {
  it("works on the jobs of others as before, without a trace of ours", async () => {
    const bench = await redisBench();
    const worker = new Worker<Order, number>(bench.queueName, processor, {
      connection: bench.redis,
      prefix: bench.prefix,
    });
    try {
      const ended = new Promise<[Job<Order, number>, number]>((resolve) => {
        worker.once("completed", (job, result) => resolve([job, result]));
      });
      const failed = new Promise<Error>((resolve) => {
        worker.once("failed", (_job, error) => resolve(error));
      });
      const asking = await bench.queue.add("order", { customer: "asks" });
      expect((await failed).message).toBe(`ask: no task has started job ${asking.id}, so nobody can be asked`);
      const { id = "" } = await bench.queue.add("order", { customer: "Ada" });
      const [job, result] = await ended;
      expect([job.id, result]).toEqual([id, 3]);
      for (const each of [id, asking.id ?? ""]) {
        const fields = await bench.redis.hkeys(bench.queue.toKey(each));
        expect(fields.filter((field) => field.startsWith("tb:"))).toEqual([]);
      }
    } finally {
      await worker.close(true);
      await bench.close();
    }
  });
});
