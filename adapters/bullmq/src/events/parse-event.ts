import type { KeptEnd, QueueEvent } from "../redis/client.ts";

/** What an event of a queue is to us. */
export interface ParsedEvent {
  readonly jobId: string;
  /** Present when it tells an end, with the result or the reason. */
  readonly end?: KeptEnd;
}

/** As the engine makes start keys; everything else in the queue is somebody else's. */
const ourId = /^mcp-[0-9a-f]{32}$/;

/** Whether a job can be one of ours. */
export const isOurId = (id: string): boolean => ourId.test(id);

/** What every job of ours does, and what a start has told already. */
const noNews = new Set(["added", "duplicated", "deduplicated", "retries-exhausted"]);

/** Undefined for events of others, and for those that say nothing new. */
export const parseEvent = ({ eventId, fields }: QueueEvent): ParsedEvent | undefined => {
  const { event, jobId, prev, returnvalue = "", failedReason = "" } = fields;
  if (jobId === undefined || event === undefined || !isOurId(jobId) || noNews.has(event)) return undefined;
  if (event === "waiting" && prev === undefined) return undefined;
  if (event === "completed") return { jobId, end: { eventId, jobId, event, text: returnvalue } };
  if (event === "failed") return { jobId, end: { eventId, jobId, event, text: failedReason } };
  return { jobId };
};
