import { setTimeout as sleep } from "node:timers/promises";

/** Pauses between two looks at a task, which news of it cut short. */
export interface Naps {
  /** Rejects when the signal fires. */
  take(taskId: string, delayMs: number, signal: AbortSignal): Promise<void>;
  wake(taskId: string): void;
}

export const createNaps = (): Naps => {
  const asleep = new Map<string, AbortController>();
  return {
    take: async (taskId, delayMs, signal) => {
      const nap = new AbortController();
      const giveUp = (): void => nap.abort(signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      if (signal.aborted) giveUp();
      asleep.set(taskId, nap);
      try {
        await sleep(delayMs, undefined, { signal: nap.signal });
      } catch (error) {
        if (signal.aborted || !nap.signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", giveUp);
        asleep.delete(taskId);
      }
    },
    wake: (taskId) => asleep.get(taskId)?.abort(),
  };
};
