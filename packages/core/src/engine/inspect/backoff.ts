import type { InspectOutcome } from "../../contract/workflow-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";

const firstMs = 1_000;
const maxMs = 300_000;

/** How long a backend that refuses look-ups is left alone: doubles with each refusal, and is gone with the first answer. */
export interface Backoff {
  /** Zero while the backend answers. */
  readonly ms: number;
  /** Epoch milliseconds. */
  readonly until: number;
  refuse(retryAfterMs: number): void;
  record(outcomes: readonly InspectOutcome[]): void;
}

export const createBackoff = (engine: EngineContext): Backoff => {
  let ms = 0;
  let until = 0;
  const refuse = (retryAfterMs: number): void => {
    ms = Math.min(Math.max(ms * 2, firstMs), maxMs);
    // Spread, so that processes refused together do not come back together.
    const spreadMs = Math.round(ms * (1 + (engine.random(1)[0] as number) / 1_024));
    until = engine.store.now() + Math.max(spreadMs, retryAfterMs);
  };
  return {
    get ms() {
      return ms;
    },
    get until() {
      return until;
    },
    refuse,
    record: (outcomes) => {
      const refused = outcomes.flatMap((outcome) => ("unavailable" in outcome ? [outcome.retryAfterMs ?? 0] : []));
      const retryAfterMs = Math.max(0, ...refused);
      if (refused.length > 0 && (refused.length === outcomes.length || retryAfterMs > 0)) return refuse(retryAfterMs);
      ms = 0;
      until = 0;
    },
  };
};
