import { BridgeError, type ExecutionSnapshot } from "@taskbridge/core/adapter";
import type { QueuePort } from "../redis/client.ts";
import { toKeptEnd } from "./find-lost-jobs.ts";
import type { SearchEvents } from "./search-events.ts";

/** What the queue's events have kept of a start whose job is gone: that it arrived, and how it ended where they tell. */
export interface KeptStart {
  readonly snapshot?: ExecutionSnapshot;
}

/** By so much the clocks of two machines may differ (milliseconds). */
const clocksDiffer = 60_000;

/**
 * Looks for a start whose job is not there: it may have come, ended, and been trimmed by other jobs' retention. Undefined
 * when it certainly never came; rejects with `outcome_unknown` when events that might tell are gone, or are too many for one search.
 * `firstSentAt` (epoch milliseconds): nothing of it can be older.
 */
export const findStart = async (
  queue: QueuePort,
  key: string,
  firstSentAt: number,
  search: SearchEvents,
  operation: "start" | "find",
): Promise<KeptStart | undefined> => {
  const { traces, reached } = await search(queue, [key], firstSentAt - clocksDiffer);
  const trace = traces.get(key);
  const snapshot = trace?.end === undefined ? undefined : toKeptEnd(trace.end);
  if (trace !== undefined) return snapshot === undefined ? {} : { snapshot };
  if (reached === "since" || (reached === "beginning" && !(await queue.hasDroppedEvents()))) return undefined;
  const text = `the queue ${queue.name} no longer tells whether an earlier send of ${key} has arrived: its events do not go back so far`;
  throw new BridgeError("outcome_unknown", text, { operation });
};
