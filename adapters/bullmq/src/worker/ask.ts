import { isObject, type JsonObject, type JsonValue } from "@taskbridge/core/adapter";
import { type BridgedJob, named, type Run, runs } from "./job-run.ts";

export interface JobQuestion {
  /** Names the question: asked twice in one run of the processor, it is two questions. */
  readonly key: string;
  /** What the person reads. */
  readonly message: string;
  /** JSON Schema of what an `accept` carries. */
  readonly schema?: JsonObject;
  /** How long an answer is waited for (milliseconds), ten years at most. Default: a day. */
  readonly timeoutMs?: number;
}

/** `cancel`: the person closed the question for good, or nobody answered in time: `timeout`. */
export type JobAnswer =
  | { readonly action: "accept"; readonly content?: JsonValue }
  | { readonly action: "decline" }
  | { readonly action: "cancel"; readonly reason?: "timeout" };

/** What a look reads of a question, core's `inlineOutputBytes`: workers do without core. */
const maxBytes = 64 * 1024;
const day = 24 * 60 * 60 * 1000;
/** Much later BullMQ's scores, which are multiples of times, are no longer exact. */
const maxMs = 3_650 * day;

/** What could not be shown would be waited for all the same. */
const assertQuestion = ({ key, message, schema, timeoutMs = day }: JobQuestion): void => {
  const refuse = (member: string, what: string, got: unknown): TypeError =>
    new TypeError(
      `ask: ${member} must be ${what}, got ${typeof got === "number" ? got : (JSON.stringify(got) ?? got)}`,
    );
  if (typeof key !== "string" || key === "") throw refuse("key", "a text that is not empty", key);
  if (typeof message !== "string" || message.trim() === "") throw refuse("message", "a text to be read", message);
  if (schema !== undefined && !isObject(schema)) throw refuse("schema", "a JSON Schema", schema);
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0 && timeoutMs <= maxMs))
    throw refuse("timeoutMs", `a number of milliseconds from 0 to ${maxMs}`, timeoutMs);
};

/**
 * KEYS: the job, its lock. ARGV: the lock's token, the question's ID. Closes that question, if it is the open one. Replies 1, or 0
 * where the lock is another run's or nobody's: the question may be that run's, too.
 */
const closeQuestionScript = `
local job, lock, token, question = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
if redis.call("GET", lock) ~= token then return 0 end
if redis.call("HGET", job, "tb:asking") == question then redis.call("HDEL", job, "tb:asking", "tb:question") end
return 1
`;

/**
 * Takes the question out of what the job shows; `progress` has it where an earlier version has asked. Rejects when the job was given
 * to another run meanwhile, as every step of BullMQ's does then.
 */
const closeQuestion = async (job: BridgedJob, { holder, id: jobId, token = "" }: Run, id: string): Promise<void> => {
  const redis = await holder.getBackend().client;
  redis.defineCommand("taskbridgeCloseQuestion", { numberOfKeys: 2, lua: closeQuestionScript });
  const key = holder.toKey(jobId);
  const isHeld = await redis.runCommand("taskbridgeCloseQuestion", [key, `${key}:lock`, token, id]);
  if (isHeld !== 1) throw new Error(`ask: the lock of job ${jobId} was lost, so another run of it goes on from here`);
  if (!isObject(job.progress) || !isObject(job.progress.question) || job.progress.question.id !== id) return;
  const { question, ...progress } = job.progress;
  await job.updateProgress(progress);
};

const toAnswer = (given: string | null, isLate: boolean): JobAnswer => {
  const cancelled: JobAnswer = isLate ? { action: "cancel", reason: "timeout" } : { action: "cancel" };
  if (given === null) return cancelled;
  const { action, content } = JSON.parse(given) as { action: JobAnswer["action"]; content?: JsonValue };
  if (action === "accept") return content === undefined ? { action } : { action, content };
  return action === "decline" ? { action } : cancelled;
};

/** The start of a task has left its mark. */
const isOfTask = ({ opts }: BridgedJob): boolean => isObject(opts) && opts.taskbridge !== undefined;

/**
 * Asks a person, and waits without holding the worker: the job is put off until the answer is there, and the processor is then
 * **run again from its beginning**, where this call returns the answer at once. To put it off, this call rejects with BullMQ's
 * `DelayedError`: let it pass, and keep what comes before it repeatable. After its deadline it returns `cancel` with the reason
 * `timeout`.
 *
 * Rejects with an `Error`, and writes nothing, outside of a bridged processor, for a job that no task has started (nobody could be
 * asked), when message and schema have more than 64 KiB as JSON, and when this run has lost the job's lock; with a `TypeError` when a
 * member is of another kind.
 */
export const ask = async (job: BridgedJob, question: JobQuestion): Promise<JobAnswer> => {
  assertQuestion(question);
  const { key, message, schema, timeoutMs = day } = question;
  const run = runs.get(job);
  if (run === undefined) throw new Error("ask works within a processor that bridgeProcessor has wrapped");
  if (!isOfTask(job)) throw new Error(`ask: no task has started job ${run.id}, so nobody can be asked`);
  const count = (run.asked.get(key) ?? 0) + 1;
  run.asked.set(key, count);
  const id = `${key}#${count}`;
  const jobKey = run.holder.toKey(run.id);
  const redis = await run.holder.getBackend().client;
  const [given, deadline] = await Promise.all([
    redis.hget(jobKey, `tb:answer:${id}`),
    redis.hget(jobKey, `tb:asked:${id}`),
  ]);
  const now = Date.now();
  const expiresAt = deadline === null ? now + Math.round(timeoutMs) : Number(deadline);
  const isLate = expiresAt <= now;
  if (given !== null || isLate) {
    await closeQuestion(job, run, id);
    return toAnswer(given, isLate);
  }
  const asked = JSON.stringify({ id, message, ...(schema === undefined ? {} : { schema }), expiresAt });
  const bytes = Buffer.byteLength(asked);
  if (bytes > maxBytes)
    throw new Error(`the question ${id} has ${bytes} bytes with its schema, at most ${maxBytes} can be shown`);
  // In one step, which the lock guards: a job is never put off without its question, nor has one that it does not wait for.
  await run.holder.getBackend().moveToDelayed(run.id, now, expiresAt - now, run.token, {
    skipAttempt: true,
    fieldsToUpdate: { [`tb:asked:${id}`]: expiresAt, "tb:asking": id, "tb:question": asked },
  });
  throw named("DelayedError", `waits for an answer to ${id}`);
};
