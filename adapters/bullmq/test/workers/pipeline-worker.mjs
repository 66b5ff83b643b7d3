// Pipelines as a team has them, with the worker helper: progress, a question, a job that is cancelled, one that breaks.
import { setTimeout as pause } from "node:timers/promises";
import { ask, bridgeProcessor } from "@taskbridge/adapter-bullmq/worker";
import { serveQueues } from "./serve-queue.mjs";

const render = async (job) => {
  for (let done = 1; done <= 3; done++) {
    await job.updateProgress({ done, total: 3, message: `page ${done}` });
    await pause(job.data.pageMs);
  }
  return { pages: 3, customer: job.data.customer };
};

const publish = async (job) => {
  const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const { action, content } = await ask(job, { key: "publish", message: `Publish for ${job.data.customer}?`, schema });
  return { action, ok: content?.ok };
};

const wait = async (_job, signal) => {
  await pause(60_000, undefined, { signal });
};

// Late enough that the call has become a task.
const break_ = async () => {
  await pause(500);
  const deepInside = () => {
    throw new TypeError("the template is missing");
  };
  deepInside();
};

const work = { render, publish, wait, break: break_ };

await serveQueues((begin) =>
  bridgeProcessor(
    async (job, _token, signal) => {
      await begin(job);
      return work[job.name](job, signal);
    },
    { pollMs: 50 },
  ),
);
