/** How long operations took. */
export interface Figures {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Collects durations over several rounds. */
export interface Latencies {
  /** Milliseconds of one operation. */
  add(ms: number): void;
  /** Milliseconds in which all operations of a round were done, side by side or not. */
  addElapsed(ms: number): void;
  figures(): Figures;
}

export const latencies = (): Latencies => {
  const durations: number[] = [];
  let elapsedMs = 0;
  return {
    add: (ms) => void durations.push(ms),
    addElapsed: (ms) => {
      elapsedMs += ms;
    },
    figures: () => {
      if (durations.length === 0) throw new Error("nothing was measured");
      const sorted = Float64Array.from(durations).sort();
      const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number;
      return {
        count: sorted.length,
        perSecond: (sorted.length / elapsedMs) * 1_000,
        p50Ms: at(0.5),
        p99Ms: at(0.99),
        maxMs: at(1),
      };
    },
  };
};

/** Carries out operations, `concurrency` at a time, and adds how long each took. */
export const timeAll = async (
  operations: readonly (() => Promise<unknown>)[],
  concurrency: number,
  into: Latencies,
): Promise<void> => {
  const rest = operations.values();
  const work = async (): Promise<void> => {
    for (const operation of rest) {
      const startedAt = performance.now();
      await operation();
      into.add(performance.now() - startedAt);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, work));
  into.addElapsed(performance.now() - startedAt);
};
