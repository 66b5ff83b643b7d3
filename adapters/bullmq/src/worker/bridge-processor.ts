import { type BridgedJob, type Holder, holderOf, named, runs } from "./job-run.ts";

/** The signature of BullMQ's processors. */
export type JobProcessor<Job, Result> = (job: Job, token?: string, signal?: AbortSignal) => Promise<Result>;

/** What is wrapped: its signal is always there. */
export type BridgedProcessor<Job, Result> = (
  job: Job,
  token: string | undefined,
  signal: AbortSignal,
) => Promise<Result>;

export interface BridgeOptions {
  /** How often it is looked whether running jobs are to stop (milliseconds). Default 500. One round trip for all of a worker's jobs. */
  readonly pollMs?: number;
}

interface Watched {
  readonly running: Set<string>;
  readonly reasons: Map<string, string>;
  timer: NodeJS.Timeout | undefined;
}

const watched = new WeakMap<Holder, Watched>();

const cancelReason = async (holder: Holder, id: string): Promise<string | null> =>
  (await holder.getBackend().client).hget(holder.toKey(id), "tb:cancel");

const checkCancels = async (holder: Holder, { running, reasons }: Watched): Promise<void> => {
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
  state.timer ??= setInterval(() => void checkCancels(holder, state).catch(() => {}), pollMs);
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
 * is its result nevertheless. Inside, `ask` puts questions. What it makes rejects for a job that has no `Worker` at hand, as those of
 * sandboxed processors.
 */
export const bridgeProcessor =
  <Job extends BridgedJob, Result>(
    processor: BridgedProcessor<Job, Result>,
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
      return await processor(job, token, signal ?? new AbortController().signal);
    } catch (error) {
      const reason = state.reasons.get(id);
      if (reason === undefined || (error as Error | undefined)?.name === "DelayedError") throw error;
      throw named("UnrecoverableError", `cancelled: ${reason}`);
    } finally {
      unwatch(state, id);
    }
  };
