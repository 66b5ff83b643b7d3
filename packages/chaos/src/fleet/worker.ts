// A worker of the queue, on plain BullMQ with the helper that lets it ask: four pipelines, and a ledger of every run. Its
// arguments: Redis' URL, prefix, queue, the ledger's file.
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ask, bridgeProcessor } from "@taskbridge/adapter-bullmq/worker";
import { type Job, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { WorkerLine } from "../checks/evidence.ts";

interface Input {
  readonly call: string;
  /** How long a slow job takes. */
  readonly ms: number;
}
type Pipeline = (job: Job<Input>, signal: AbortSignal) => Promise<unknown>;

const [url = "", prefix = "", queue = "", ledger = ""] = process.argv.slice(2);
/** At once, so that nothing that a worker has done before it is killed is missing. */
const note = (line: WorkerLine): void => appendFileSync(ledger, `${JSON.stringify(line)}\n`);
const schema = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };
const steps = 4;

const pipelines: Readonly<Record<string, Pipeline>> = {
  quick: async ({ data }) => ({ call: data.call, quick: true }),
  slow: async (job, signal) => {
    for (let done = 1; done <= steps; done++) {
      await pause(job.data.ms / steps, undefined, { signal });
      await job.updateProgress({ done, total: steps, message: `step ${done}` });
    }
    return { call: job.data.call, steps, by: process.pid };
  },
  ask: async (job) => {
    const { id = "", data } = job;
    const answer = await ask(job, { key: "publish", message: `Publish ${data.call} ?`, schema }).catch(
      (error: unknown) => {
        if ((error as Error).name === "DelayedError") note({ kind: "puts off", job: id });
        throw error;
      },
    );
    const { token = "" } = (answer.action === "accept" ? answer.content : {}) as { token?: string };
    note({ kind: "is answered", job: id, token });
    return { call: data.call, action: answer.action, token };
  },
  fail: async ({ data }) => {
    throw new Error(`broken: ${data.call}`);
  },
};

const connection = new Redis(url, { maxRetriesPerRequest: null });
// It connects again by itself.
connection.on("error", () => {});
const worker = new Worker<Input>(
  queue,
  bridgeProcessor(
    async (job: Job<Input>, _token, signal) => {
      const { id = "" } = job;
      note({ kind: "begins", job: id, call: job.data.call });
      const value = await pipelines[job.name]?.(job, signal);
      note({ kind: "returns", job: id, value: JSON.stringify(value) });
      return value;
    },
    { pollMs: 250 },
  ),
  // Jobs of workers that are killed are to be run again, however often that happens to one.
  { connection, prefix, concurrency: 10, stalledInterval: 1_000, lockDuration: 4_000, maxStalledCount: 50 },
);
worker.on("error", () => {});
process.on("disconnect", () => process.exit());
await worker.waitUntilReady();
process.send?.("ready");
