import { setTimeout as sleep } from "node:timers/promises";

/** Time, so that tests need not wait for it. Durations and instants in milliseconds. */
export interface Clock {
  now(): number;
  /** A pause. Rejects with the signal's reason when it fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A limit: keeps no process alive by itself. Returns how to lift it. */
  after(ms: number, run: () => void): () => void;
}

/** As long as a timer can wait. */
const maxMs = 2_147_483_647;

export const systemClock: Clock = {
  now: Date.now,
  sleep: async (ms, signal) => {
    signal?.throwIfAborted();
    try {
      await sleep(Math.min(ms, maxMs), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, maxMs)).unref();
    return () => clearTimeout(timer);
  },
};
