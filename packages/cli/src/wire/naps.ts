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
      const woken = new AbortController();
      asleep.set(taskId, woken);
      try {
        await sleep(delayMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) });
      } catch (error) {
        if (signal.aborted || !woken.signal.aborted) throw error;
      } finally {
        asleep.delete(taskId);
      }
    },
    wake: (taskId) => asleep.get(taskId)?.abort(),
  };
};
