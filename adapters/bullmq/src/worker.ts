import type { JsonObject, JsonValue } from "@taskbridge/core/adapter";

/**
 * For worker processes: has running jobs hear of a cancel, and lets them ask. Needs BullMQ 6 to be there already, of which it
 * imports nothing; a job works without the bridge as before.
 */

/** The signature of BullMQ's processors. */
export type JobProcessor<Job, Result> = (job: Job, token?: string, signal?: AbortSignal) => Promise<Result>;

/** What is used of BullMQ's `Job`. */
export interface BridgedJob {
  readonly id?: string | undefined;
  readonly progress: unknown;
  updateProgress(progress: object): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

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

export interface BridgeOptions {
  /** How often it is looked whether running jobs are to stop (milliseconds). Default 500. One round trip for all of a worker's jobs. */
  readonly pollMs?: number;
}

/** BullMQ's `Worker`, which a job knows as its queue. */
interface Holder {
  toKey(name: string): string;
  cancelJob(jobId: string, reason?: string): boolean;
  getBackend(): {
    readonly client: Promise<{
      hget(key: string, field: string): Promise<string | null>;
      hset(key: string, fields: Readonly<Record<string, string | number>>): Promise<unknown>;
    }>;
  };
}

/** One run of a processor. */
interface Run {
  readonly holder: Holder;
  readonly id: string;
  readonly token: string | undefined;
  /** How often each key has been asked in this run. */
  readonly asked: Map<string, number>;
}

const day = 24 * 60 * 60 * 1000;
const runs = new WeakMap<object, Run>();

/** BullMQ tells errors by their name. */
const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

const holderOf = (job: unknown): Holder => {
  const { queue } = job as { readonly queue?: Partial<Holder> };
  if (typeof queue?.cancelJob === "function" && typeof queue.getBackend === "function") return queue as Holder;
  throw new Error(
    "bridgeProcessor needs a job from a BullMQ 6 Worker; sandboxed processors, in a file of their own, cannot be wrapped",
  );
};

interface Watched {
  readonly running: Set<string>;
  readonly reasons: Map<string, string>;
  timer: NodeJS.Timeout | undefined;
}

const watched = new WeakMap<Holder, Watched>();

const cancelReason = async (holder: Holder, id: string): Promise<string | null> =>
  (await holder.getBackend().client).hget(holder.toKey(id), "tb:cancel");

const lookForCancels = async (holder: Holder, { running, reasons }: Watched): Promise<void> => {
  const ids = [...running].filter((id) => !reasons.has(id));
  const found = await Promise.all(ids.map((id) => cancelReason(holder, id)));
  for (const [index, id] of ids.entries()) {
    const reason = found[index];
    if (typeof reason !== "string" || !running.has(id)) continue;
    reasons.set(id, reason);
    holder.cancelJob(id, reason);
  }
};

const watchFor = (holder: Holder, id: string, pollMs: number): Watched => {
  const state = watched.get(holder) ?? {
    running: new Set<string>(),
    reasons: new Map<string, string>(),
    timer: undefined,
  };
  watched.set(holder, state);
  state.running.add(id);
  // A look that fails is made up for by the next.
  state.timer ??= setInterval(() => void lookForCancels(holder, state).catch(() => {}), pollMs);
  return state;
};

const unwatch = (state: Watched, id: string): void => {
  state.running.delete(id);
  state.reasons.delete(id);
  if (state.running.size > 0) return;
  clearInterval(state.timer);
  state.timer = undefined;
};

/**
 * Wraps a processor: `new Worker("reports", bridgeProcessor(async (job, token, signal) => …), { connection })`. When the job's
 * task is cancelled, BullMQ's own `signal` fires; what the processor throws after that ends the job for good, what it returns
 * is its result nevertheless. Inside, `ask` puts questions.
 */
export const bridgeProcessor =
  <Job extends BridgedJob, Result>(
    processor: JobProcessor<Job, Result>,
    { pollMs = 500 }: BridgeOptions = {},
  ): JobProcessor<Job, Result> =>
  // Three parameters, for BullMQ makes a signal only for who takes one.
  async (job, token, signal) => {
    const holder = holderOf(job);
    const id = job.id ?? "";
    const earlier = await cancelReason(holder, id);
    if (earlier !== null) throw named("UnrecoverableError", `cancelled: ${earlier}`);
    const state = watchFor(holder, id, pollMs);
    runs.set(job, { holder, id, token, asked: new Map() });
    try {
      return await processor(job, token, signal);
    } catch (error) {
      const reason = state.reasons.get(id);
      if (reason === undefined || (error as Error | undefined)?.name === "DelayedError") throw error;
      throw named("UnrecoverableError", `cancelled: ${reason}`);
    } finally {
      unwatch(state, id);
    }
  };

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
