// Plain BullMQ, with nothing of ours: what a team has already.
import { setTimeout as pause } from "node:timers/promises";
import { serveQueues } from "./serve-queue.mjs";

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
  shows: async (job) => {
    await job.updateProgress(job.data.progress);
    await pause(job.data.ms ?? 700);
  },
  returns: (job) => job.data.value,
  nothing: () => undefined,
  bigint: () => 1n,
  huge: (job) => ({ text: "é".repeat(job.data.length) }),
  deep: () => JSON.parse("[".repeat(3000) + "]".repeat(3000)),
};

await serveQueues((begin) => async (job) => {
  await begin(job);
  return work[job.name](job);
});
