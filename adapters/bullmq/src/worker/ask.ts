import type { JsonObject, JsonValue } from "@taskbridge/core/adapter";
import { type BridgedJob, named, runs } from "./job-run.ts";

export interface JobQuestion {
  /** Names the question: asked twice in one run of the processor, it is two questions. */
  readonly key: string;
  /** What the person reads. */
  readonly message: string;
  /** JSON Schema of what an `accept` carries. */
  readonly schema?: JsonObject;
  /** How long an answer is waited for (milliseconds). Default: a day. */
  readonly timeoutMs?: number;
}

/** `cancel`: nobody answered in time, or the person closed the question for good. */
export type JobAnswer =
  | { readonly action: "accept"; readonly content?: JsonValue }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

const day = 24 * 60 * 60 * 1000;

const toDetails = (progress: unknown): Readonly<Record<string, unknown>> => {
  // 0 is what a job has that has told nothing.
  if (typeof progress === "number") return progress === 0 ? {} : { done: progress, total: 100 };
  return typeof progress === "object" && progress !== null && !Array.isArray(progress) ? { ...progress } : {};
};

/** Takes the question out of what the job shows. */
const closeQuestion = async (job: BridgedJob): Promise<void> => {
  const { question, ...progress } = toDetails(job.progress);
  if (question !== undefined) await job.updateProgress(progress);
};

/**
 * Asks a person, and waits without holding the worker: the job is put off until the answer is there, and the processor is then
 * **run again from its beginning**, where this call returns the answer at once. Let what it throws pass, and keep what comes
 * before it repeatable. Rejects outside of a bridged processor.
 */
export const ask = async (
  job: BridgedJob,
  { key, message, schema, timeoutMs = day }: JobQuestion,
): Promise<JobAnswer> => {
  const run = runs.get(job);
  if (run === undefined) throw new Error("ask works within a processor that bridgeProcessor has wrapped");
  const count = (run.asked.get(key) ?? 0) + 1;
  run.asked.set(key, count);
  const id = `${key}#${count}`;
  const jobKey = run.holder.toKey(run.id);
  const redis = await run.holder.getBackend().client;
  const [given, deadline] = await Promise.all([
    redis.hget(jobKey, `tb:answer:${id}`),
    redis.hget(jobKey, `tb:asked:${id}`),
  ]);
  const expiresAt = deadline === null ? Date.now() + timeoutMs : Number(deadline);
  if (given !== null || expiresAt <= Date.now()) {
    await closeQuestion(job);
    if (given === null) return { action: "cancel" };
    const { action, content } = JSON.parse(given) as { action: JobAnswer["action"]; content?: JsonValue };
    return action === "accept" && content !== undefined ? { action, content } : { action };
  }
  await redis.hset(jobKey, { [`tb:asked:${id}`]: expiresAt });
  const question = { id, message, ...(schema === undefined ? {} : { schema }), expiresAt };
  await job.updateProgress({ ...toDetails(job.progress), question });
  await job.moveToDelayed(expiresAt, run.token);
  throw named("DelayedError", `waits for an answer to ${id}`);
};
