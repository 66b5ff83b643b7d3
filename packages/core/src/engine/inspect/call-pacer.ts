import type { AdapterId } from "../../contract/identity.ts";
import type { EngineContext } from "../context/engine-context.ts";

/** Keeps look-ups within what a backend takes by the minute. */
export interface CallPacer {
  /** 0: a call may be sent now, and is counted. Else how long to wait (milliseconds); infinite: until `ready` is called. */
  take(): number;
}

/** Shares of the interval. Chance keeps one process from being first every time. */
const minRetry = 0.2;
const maxPause = 1.2;

/**
 * Calls are spread evenly over the minute. Processes that share the store share the rate as well: whoever gets the lease of
 * the next interval sends.
 */
export const callPacer = (engine: EngineContext, adapterId: AdapterId, ready: () => void): CallPacer => {
  const perMinute = engine.adapters.get(adapterId)?.traits.maxInspectCallsPerMinute;
  if (perMinute === undefined) return { take: () => 0 };
  const intervalMs = Math.ceil(60_000 / perMinute);
  const random = (min: number, max: number): number => min + ((max - min) * (engine.random(1)[0] as number)) / 255;
  let nextCallAt = 0;
  let grantedUntil = 0;
  let turn: "none" | "asked" | "granted" = "none";

  const ask = async (): Promise<void> => {
    const isOurs = await engine.store.lease(`calls:${adapterId}`, intervalMs).then(
      (lease) => lease !== undefined,
      // What a look would tell could not be written down either.
      () => false,
    );
    turn = isOurs ? "granted" : "none";
    grantedUntil = engine.store.now() + intervalMs;
    if (!isOurs) nextCallAt = engine.store.now() + intervalMs * random(minRetry, 1);
    ready();
  };

  return {
    take: () => {
      const waitMs = nextCallAt - engine.store.now();
      if (waitMs > 0) return waitMs;
      if (turn === "granted" && engine.store.now() >= grantedUntil) turn = "none";
      if (engine.store.shared && turn !== "granted") {
        if (turn === "none") {
          turn = "asked";
          engine.background(ask());
        }
        return Number.POSITIVE_INFINITY;
      }
      turn = "none";
      // Who has had a turn leaves the next one, as often as not, to those who have not.
      nextCallAt = engine.store.now() + intervalMs * (engine.store.shared ? random(1, maxPause) : 1);
      return 0;
    },
  };
};
