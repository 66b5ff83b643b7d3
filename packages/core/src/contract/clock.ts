/** Where the engine takes time from, so that tests can run it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `action` once after `delayMs`. Returns how to call it off. Does not keep the process alive. */
  schedule(delayMs: number, action: () => void): () => void;
}

/** The machine's own clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule: (delayMs, action) => {
    // Longer delays overflow setTimeout and would fire at once.
    const timer = setTimeout(action, Math.min(delayMs, 2_147_483_647));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
