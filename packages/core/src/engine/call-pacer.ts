import type { AdapterId } from "../contract/identity.ts";
import type { EngineContext } from "./engine-context.ts";

/** Keeps look-ups within what a backend takes by the minute. */
export interface CallPacer {
  /** 0: a call may be sent now, and is counted. Else how long to wait (milliseconds); infinite: until `ready` is called. */
  take(): number;
}

/**
 * Calls are spread evenly over the minute. Processes that share the store share the rate as well: whoever gets the lease of
 * the next interval sends.
 */
export const callPacer = (engine: EngineContext, adapterId: AdapterId, ready: () => void): CallPacer => {
  const perMinute = engine.adapters.get(adapterId)?.traits.maxInspectCallsPerMinute;
  if (perMinute === undefined) return { take: () => 0 };
  const intervalMs = Math.ceil(60_000 / perMinute);
  let nextCallAt = 0;
  let turn: "none" | "asked" | "granted" = "none";

  const ask = async (): Promise<void> => {
    const isOurs = await engine.store.lease(`calls:${adapterId}`, intervalMs).then(
      (lease) => lease !== undefined,
      // What a look would tell could not be written down either.
      () => false,
    );
    turn = isOurs ? "granted" : "none";
    if (!isOurs) nextCallAt = engine.store.now() + intervalMs;
    ready();
  };

  return {
    take: () => {
      const waitMs = nextCallAt - engine.store.now();
      if (waitMs > 0) return waitMs;
      if (engine.store.shared && turn !== "granted") {
        if (turn === "none") {
          turn = "asked";
          engine.background(ask());
        }
        return Number.POSITIVE_INFINITY;
      }
      turn = "none";
      nextCallAt = engine.store.now() + intervalMs;
      return 0;
    },
  };
};
