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
const ignoredEvents = new Set(["added", "duplicated", "deduplicated", "retries-exhausted"]);

/** What an event tells of a job's end; undefined for one that tells nothing of it. */
export const toKeptEnd = ({ eventId, fields }: QueueEvent): KeptEnd | undefined => {
  const { event, returnvalue = "", failedReason = "", prev = "" } = fields;
  if (event === "completed") return { eventId, event, text: returnvalue };
  if (event === "failed") return { eventId, event, text: failedReason };
  return event === "removed" ? { eventId, event, text: prev } : undefined;
};

/** Undefined for events of others, and for those that say nothing new. */
export const parseEvent = (queueEvent: QueueEvent): ParsedEvent | undefined => {
  const { event, jobId, prev } = queueEvent.fields;
  if (jobId === undefined || event === undefined || !isOurId(jobId) || ignoredEvents.has(event)) return undefined;
  if (event === "waiting" && prev === undefined) return undefined;
  const end = toKeptEnd(queueEvent);
  return end === undefined || end.event === "removed" ? { jobId } : { jobId, end };
};
