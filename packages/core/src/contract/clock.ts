/** The engine's source of time. Tests replace it by a clock that they advance. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `action` once after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, action: () => void): () => void;
}

/** The machine's clock and timers. A pending timer keeps the process alive, so that an engine runs until it is closed. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule: (delayMs, action) => {
    // Longer delays overflow setTimeout and would fire at once.
    const timer = setTimeout(action, Math.min(delayMs, 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
