import { setTimeout as pause } from "node:timers/promises";

/** What time it is for a fake. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves at an instant, or rejects when the signal fires. */
  until(at: number, signal: AbortSignal): Promise<void>;
}

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  until: async (at, signal) => {
    while (Date.now() < at) await pause(Math.min(at - Date.now(), maxTimerMs), undefined, { signal, ref: false });
  },
};

export const manualClock = (startAt: number = Date.UTC(2026, 5, 1)): ManualClock => {
  let now = startAt;
  const waiting = new Set<{ readonly at: number; readonly resolve: () => void }>();
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
      for (const one of [...waiting]) if (one.at <= now) one.resolve();
    },
    until: (at, signal) =>
      new Promise((resolve, reject) => {
        const settle = (done: () => void): void => {
          waiting.delete(entry);
          signal.removeEventListener("abort", onAbort);
          done();
        };
        const onAbort = (): void => settle(() => reject(signal.reason));
        const entry = { at, resolve: () => settle(resolve) };
        waiting.add(entry);
        signal.addEventListener("abort", onAbort);
        if (signal.aborted) onAbort();
        else if (at <= now) entry.resolve();
      }),
  };
};
