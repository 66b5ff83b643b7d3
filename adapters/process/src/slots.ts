/** Lets only so many pieces of work run at once; the others wait in order. */
export interface Slots {
  /** Rejects with the signal's reason when it fires before the turn comes. */
  hold<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value>;
}

export const slots = (count: number): Slots => {
  const waiting = new Set<() => void>();
  let free = count;
  const runTurn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.delete(begin);
        reject(signal.reason);
      };
      waiting.add(begin);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  return {
    async hold(work, signal) {
      if (free > 0) free--;
      else await runTurn(signal);
      try {
        return await work();
      } finally {
        const [next] = waiting;
        if (next === undefined) free++;
        else {
          waiting.delete(next);
          next();
        }
      }
    },
  };
};
