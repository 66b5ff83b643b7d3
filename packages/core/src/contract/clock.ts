/** Where the engine takes time from, so that tests can run it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `action` once after `delayMs`. Returns how to call it off. */
  schedule(delayMs: number, action: () => void): () => void;
}

/** The machine's own clock and timers. What waits keeps the process alive: an engine that is not closed goes on. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule: (delayMs, action) => {
    // Longer delays overflow setTimeout and would fire at once.
    const timer = setTimeout(action, Math.min(delayMs, 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
