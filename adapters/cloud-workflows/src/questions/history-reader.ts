import { type CallContext, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, StepEntry } from "../google/client.ts";
import type { ExecutionLocation } from "../mapping/execution-name.ts";

/**
 * Every step of an execution that goes on. Undefined where that is not to be had: no history is kept, it may not be read, a local engine
 * has none, or it has been out of reach for a while. Rejects where it may be had at the next look.
 */
export type HistoryReader = (
  location: ExecutionLocation,
  context: CallContext,
) => Promise<readonly StepEntry[] | undefined>;

/** Where histories may not be read, they are not tried again for so long (milliseconds). */
const noHistoryMs = 600_000;
/** Questions wait so long (milliseconds) for a history that is out of reach; then they are asked without. */
const outageMs = 30_000;
/** It is tried again after this (milliseconds). */
const retryMs = 60_000;

/** `complain`: hears of each lack. `now`: milliseconds. */
export const historyReader = (
  client: Pick<GcwClient, "stepsInProgress">,
  complain: (error: unknown, log: CallContext["log"]) => void,
  now = (): number => performance.now(),
): HistoryReader => {
  /** By workflow. */
  const notBefore = new Map<string, number>();
  const failingSince = new Map<string, number>();
  return async ({ name, workflow }, { signal, log }) => {
    if (now() < (notBefore.get(workflow) ?? Number.NEGATIVE_INFINITY)) return undefined;
    try {
      const entries = await client.stepsInProgress(name, signal);
      failingSince.delete(workflow);
      // An execution that goes on is at some step.
      return entries?.length === 0 ? undefined : entries;
    } catch (error) {
      const { code } = toBridgeError(error);
      if (code === "throttled") throw error;
      // It may merely have ended.
      if (code === "not_found") return undefined;
      const isRefused = code === "denied" || code === "unsupported";
      const since = failingSince.get(workflow) ?? now();
      failingSince.set(workflow, since);
      if (!isRefused && now() - since < outageMs) throw error;
      notBefore.set(workflow, now() + (isRefused ? noHistoryMs : retryMs));
      complain(error, log);
      return undefined;
    }
  };
};
