import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Calls that one of AWS' rates allows: `burst` at once, and `perSecond` again. */
export interface TokenBucket {
  /** How many may be taken at once. */
  left(): number;
  /** Takes one if more than `reserve` are left. */
  tryTake(reserve?: number): boolean;
  /**
   * Takes one, in turn, once there is one. False, with nothing taken, when that would be later than `withinMs`. Rejects with
   * `AbortError` when it waits and the signal fires; nothing is taken then, either.
   */
  take(withinMs: number, signal: AbortSignal): Promise<boolean>;
}

/** AWS counts real time, whatever the engine's clock says. `now`: milliseconds. */
export const tokenBucket = (burst: number, perSecond: number, now = (): number => performance.now()): TokenBucket => {
  let level = burst;
  let since = now();
  const refill = (): void => {
    const at = now();
    level = Math.min(burst, level + ((at - since) / 1_000) * perSecond);
    since = at;
  };
  return {
    left: () => {
      refill();
      return Math.max(0, Math.floor(level));
    },
    tryTake: (reserve = 0) => {
      refill();
      if (level < 1 + reserve) return false;
      level -= 1;
      return true;
    },
    take: async (withinMs, signal) => {
      refill();
      const waitMs = Math.max(0, ((1 - level) / perSecond) * 1_000);
      if (waitMs > withinMs) return false;
      level -= 1;
      if (waitMs === 0) return true;
      // One look waits for many at once by one signal.
      setMaxListeners(0, signal);
      try {
        await sleep(waitMs, undefined, { signal });
      } catch (error) {
        // Nothing is called with it, and those that come later must not wait for it.
        level += 1;
        throw error;
      }
      return true;
    },
  };
};
