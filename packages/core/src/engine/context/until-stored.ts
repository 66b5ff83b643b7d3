import { isStoreUnavailable, toBridgeError } from "../../contract/bridge-error.ts";
import { pause } from "../../contract/wait.ts";
import type { AuditEvent } from "./audit.ts";
import type { EngineContext } from "./engine-context.ts";

/** Pauses between two tries (milliseconds): doubling from the first to the longest. */
const firstPauseMs = 100;
const maxPauseMs = 5_000;

/**
 * Repeats work for as long as the store is away, at most `forMs`, or until the engine closes; then rejects as the last try
 * did. What is repeated may have taken effect before.
 */
export const untilStored = async <Result>(
  engine: EngineContext,
  forMs: number,
  work: () => Promise<Result>,
): Promise<Result> => {
  const giveUpAt = engine.clock.now() + forMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreUnavailable(error) || engine.closing.aborted || engine.clock.now() + pauseMs > giveUpAt) throw error;
      await pause(pauseMs, { clock: engine.clock, signal: engine.closing });
    }
  }
};

/** What is told of work that failed although no backend was at fault. A store that is away is no fault of ours. */
export const toFaultEvent = (error: unknown, where?: string): Pick<AuditEvent, "kind" | "message"> => {
  const { message } = toBridgeError(error);
  if (isStoreUnavailable(error)) return { kind: "store_unavailable", message };
  return { kind: "internal_error", message: where === undefined ? message : `${where}: ${message}` };
};
