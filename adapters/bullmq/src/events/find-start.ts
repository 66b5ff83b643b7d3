import { BridgeError, type ExecutionSnapshot } from "@taskbridge/core/adapter";
import { endToSnapshot } from "../mapping/end-to-snapshot.ts";
import type { QueuePort } from "../redis/client.ts";
import type { SearchEvents } from "./search-events.ts";

/** What the queue's events have kept of a start whose job is gone: that it arrived, and how it ended where they tell. */
export interface KeptStart {
  readonly snapshot?: ExecutionSnapshot;
}

export interface EarlierSend {
  readonly key: string;
  /** Epoch milliseconds by the engine's clock: nothing of it can be older. */
  readonly firstSentAt: number;
  /** The engine's clock. */
  readonly now: () => number;
  readonly search: SearchEvents;
  readonly operation: "start" | "find";
}

/** By so much a clock may have been put right since (milliseconds). */
const clockMayStep = 10_000;

/** By how much Redis' clock is ahead of the engine's, at least (milliseconds): events have Redis' time. */
const readClockLead = async (queue: QueuePort, now: () => number): Promise<number> => {
  const theirs = await queue.now();
  return theirs - now();
};

/**
 * Looks for a start whose job is not there: it may have come, ended, and been trimmed by other jobs' retention. Undefined
 * when it certainly never came; rejects with `outcome_unknown` when events that might tell are gone, or are too many for one search.
 */
export const findStart = async (
  queue: QueuePort,
  { key, firstSentAt, now, search, operation }: EarlierSend,
): Promise<KeptStart | undefined> => {
  const since = firstSentAt + (await readClockLead(queue, now)) - clockMayStep;
  const { traces, reached } = await search(queue, [key], since);
  const trace = traces.get(key);
  const snapshot = trace?.end === undefined ? undefined : endToSnapshot(trace.end);
  if (trace !== undefined) return snapshot === undefined ? {} : { snapshot };
  // A stream that begins later proves nothing, though it has dropped nothing: it may be a new one, the old was removed.
  if (reached === "since") return undefined;
  const text = `the queue ${queue.name} no longer tells whether an earlier send of ${key} has arrived: its events do not go back so far`;
  throw new BridgeError("outcome_unknown", text, { operation });
};
