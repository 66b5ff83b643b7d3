import type { Clock } from "./clock.ts";

/** A pause between two looks at a task, which news of it cuts short. */
export interface Nap {
  /** Rejects with the signal's reason when it fires. News that came since the last nap ends this one at once. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  wake(): void;
}

export const createNap = (clock: Clock): Nap => {
  let asleep: AbortController | undefined;
  let hasUpdate = false;
  return {
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      const nap = new AbortController();
      const giveUp = (): void => nap.abort();
      signal.addEventListener("abort", giveUp, { once: true });
      asleep = nap;
      if (hasUpdate) nap.abort();
      try {
        await clock.sleep(ms, nap.signal);
      } catch (error) {
        if (!nap.signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", giveUp);
        asleep = undefined;
        hasUpdate = false;
      }
      signal.throwIfAborted();
    },
    wake: () => {
      hasUpdate = true;
      asleep?.abort();
    },
  };
};
