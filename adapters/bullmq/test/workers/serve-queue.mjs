import { appendFile } from "node:fs/promises";
import { Worker } from "bullmq";
import { Redis } from "ioredis";

/**
 * Makes a program of a processor: `node <worker>.mjs '{"url","prefix","queue","journal","concurrency"?,"lockMs"?}'`. Each run of
 * the processor appends a line to the journal: `<job ID> <attempt>`. Started with a channel (`fork`), it says "ready", takes
 * further queues as messages of that shape, and ends with its parent.
 * @param {(begin: (job: import("bullmq").Job) => Promise<void>) => import("bullmq").Processor} toProcessor `begin` writes the line.
 */
export const serveQueues = async (toProcessor) => {
  const serve = async ({ url, prefix, queue, journal, concurrency = 4, lockMs = 30_000 }) => {
    const connection = new Redis(url, { maxRetriesPerRequest: null });
    connection.on("error", () => {});
    const begin = (job) => appendFile(journal, `${job.id} ${job.attemptsMade + 1}\n`);
    const worker = new Worker(queue, toProcessor(begin), {
      connection,
      prefix,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: 1_000,
    });
    worker.on("error", () => {});
    await worker.waitUntilReady();
    process.send?.("ready");
  };
  process.on("message", (message) => void serve(message));
  process.on("disconnect", () => process.exit());
  await serve(JSON.parse(process.argv[2] ?? ""));
};
