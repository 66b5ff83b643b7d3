import type { Clock } from "../src/clock.ts";

export interface FastClock extends Clock {
  /** The pauses that were made, in turn (milliseconds). */
  readonly pauses: readonly number[];
}

/** Time that passes at once: a pause ends in the next turn of the event loop. Limits are never reached. */
export const fastClock = (): FastClock => {
  const pauses: number[] = [];
  let now = 0;
  return {
    pauses,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      pauses.push(ms);
      await new Promise(setImmediate);
      signal?.throwIfAborted();
      now += ms;
    },
    after: () => () => {},
  };
};
