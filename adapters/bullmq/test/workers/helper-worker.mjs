// Processors that are wrapped by the worker helper.
import { setTimeout as pause } from "node:timers/promises";
import { ask, bridgeProcessor } from "@taskbridge/adapter-bullmq/worker";
import { serveQueues } from "./serve-queue.mjs";

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
    if (job.data.progress !== undefined) await job.updateProgress(job.data.progress);
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

await serveQueues((begin) =>
  bridgeProcessor(
    async (job, _token, signal) => {
      await begin(job);
      return work[job.name](job, signal);
    },
    { pollMs: 50 },
  ),
);
