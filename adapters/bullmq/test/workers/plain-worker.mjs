// A worker in plain BullMQ, with nothing of ours: what a team has already. Its arguments: Redis' URL, prefix, queue, a file for
// the journal, and how many jobs it takes at once. Each run of the processor is one line of the journal: `<job ID> <attempt>`.
import { appendFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";

const [url, prefix, queue, journal, concurrency = "4"] = process.argv.slice(2);

const work = {
  succeeds: () => ({ files: 14 }),
  fails: () => {
    throw new Error("no such file\nsecond line");
  },
  progresses: async (job) => {
    await job.updateProgress({ done: 1, total: 2, message: "half" });
    await pause(job.data.ms ?? 700);
    return {};
  },
  "large-output": () => "x".repeat(200_000),
  "runs-until-cancelled": async (job) => {
    await pause(job.data.ms ?? 60_000);
    return "not cancelled";
  },
  "fails-twice": (job) => {
    if (job.attemptsMade < 2) throw new TypeError(`attempt ${job.attemptsMade + 1} is too early`);
    return `attempt ${job.attemptsMade + 1}`;
  },
  logs: async (job) => {
    for (let line = 1; line <= 30; line++) await job.log(`line ${line}`);
    await job.updateProgress(40);
    await pause(job.data.ms ?? 700);
  },
  shows: async (job) => {
    await job.updateProgress(job.data.progress);
    await pause(job.data.ms ?? 700);
  },
  returns: (job) => job.data.value,
  nothing: () => undefined,
  bigint: () => 1n,
  huge: (job) => ({ text: "é".repeat(job.data.length) }),
  deep: () => JSON.parse("[".repeat(3000) + "]".repeat(3000)),
  gives_up: () => {
    throw new UnrecoverableError("never again");
  },
};

const connection = new Redis(url, { maxRetriesPerRequest: null });
const worker = new Worker(
  queue,
  async (job) => {
    await appendFile(journal, `${job.id} ${job.attemptsMade + 1}\n`);
    return work[job.name](job);
  },
  { connection, prefix, concurrency: Number(concurrency), stalledInterval: 1_000, lockDuration: 3_000 },
);
worker.on("error", () => {});
connection.on("error", () => {});
await worker.waitUntilReady();
process.send?.("ready");
process.on("disconnect", () => process.exit());
