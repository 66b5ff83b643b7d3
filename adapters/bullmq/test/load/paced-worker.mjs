// A worker in plain BullMQ whose jobs end one after the other, once it is told when the first does: `{ at, everyMs }`. A job's result
// says when it was finished. Its arguments: Redis' URL, prefix, queue, how many jobs it takes at once.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "bullmq";
import { Redis } from "ioredis";

const [url, prefix, queue, concurrency] = process.argv.slice(2);
const connection = new Redis(url, { maxRetriesPerRequest: null });
const reported = once(process, "message");
const worker = new Worker(
  queue,
  async (job) => {
    const [{ at, everyMs }] = await reported;
    await pause(Math.max(0, at + job.data.n * everyMs - Date.now()));
    return { n: job.data.n, finishedAt: Date.now() };
  },
  { connection, prefix, concurrency: Number(concurrency) },
);
worker.on("error", () => {});
connection.on("error", () => {});
await worker.waitUntilReady();
process.send?.("ready");
process.on("disconnect", () => process.exit());
