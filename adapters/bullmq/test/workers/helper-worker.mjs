// A worker whose processors are wrapped by the helper. Its arguments and its journal are those of plain-worker.mjs.
import { appendFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { ask, bridgeProcessor } from "@taskbridge/adapter-bullmq/worker";
import { Worker } from "bullmq";
import { Redis } from "ioredis";

const [url, prefix, queue, journal, concurrency = "4"] = process.argv.slice(2);

const work = {
  succeeds: () => ({ files: 14 }),
  fails: () => {
    throw new Error("no such file");
  },
  progresses: async (job) => {
    await job.updateProgress({ done: 1, total: 2 });
    await pause(700);
    return {};
  },
  "large-output": () => "x".repeat(200_000),
  "runs-until-cancelled": async (_job, signal) => {
    await pause(60_000, undefined, { signal });
  },
  stubborn: async (_job, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "finished all the same";
  },
  asks: async (job) => {
    const answer = await ask(job, { key: "approve", message: "Delete 14 files?", ...job.data.question });
    return { answer };
  },
  "asks-twice": async (job) => {
    await job.updateProgress({ done: 1, total: 3, message: "first" });
    const first = await ask(job, { key: "step", message: "First?" });
    await job.updateData({ replaced: true });
    const second = await ask(job, { key: "step", message: "Second?" });
    return { first, second };
  },
};

const connection = new Redis(url, { maxRetriesPerRequest: null });
const processor = bridgeProcessor(
  async (job, _token, signal) => {
    await appendFile(journal, `${job.id} ${job.attemptsMade + 1}\n`);
    return work[job.name](job, signal);
  },
  { pollMs: 50 },
);
const worker = new Worker(queue, processor, {
  connection,
  prefix,
  concurrency: Number(concurrency),
  stalledInterval: 1_000,
  lockDuration: 3_000,
});
worker.on("error", () => {});
connection.on("error", () => {});
await worker.waitUntilReady();
process.send?.("ready");
process.on("disconnect", () => process.exit());
