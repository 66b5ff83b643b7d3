// The worker of the kill test, in plain BullMQ with nothing of ours. Each run of its processor is one line of the journal, the job's
// ID. Its arguments: Redis' URL, prefix, queue, a file for the journal.
import { appendFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "bullmq";
import { Redis } from "ioredis";

const [url, prefix, queue, journal] = process.argv.slice(2);
const connection = new Redis(url, { maxRetriesPerRequest: null });
const worker = new Worker(
  queue,
  async (job) => {
    await appendFile(journal, `${job.id}\n`);
    for (let done = 1; done <= 2; done++) {
      await pause(job.data.ms / 2);
      await job.updateProgress({ done, total: 2 });
    }
    return { n: job.data.n };
  },
  // Jobs of workers that are killed are to be run again, however often that happens to one.
  { connection, prefix, concurrency: 20, stalledInterval: 1_000, lockDuration: 3_000, maxStalledCount: 20 },
);
worker.on("error", () => {});
connection.on("error", () => {});
await worker.waitUntilReady();
process.send?.("ready");
process.on("disconnect", () => process.exit());
