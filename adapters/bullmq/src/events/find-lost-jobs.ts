import type { InspectOutcome } from "@taskbridge/core/adapter";
import { endToSnapshot } from "../mapping/end-to-snapshot.ts";
import type { QueuePort } from "../redis/client.ts";
import { isRemovedAfterEnd, type Reached, type SearchEvents, type Trace } from "./search-events.ts";

type NotFound = Extract<InspectOutcome, { notFound: unknown }>["notFound"];

const locationOf = ({ name, prefix }: QueuePort): string => `the queue ${name} (prefix ${prefix})`;

const toOutcome = (where: string, trace: Trace, reached: Reached): InspectOutcome => {
  const snapshot = trace.end === undefined ? undefined : endToSnapshot(trace.end);
  if (snapshot !== undefined) return { snapshot };
  const isAfterEnd = isRemovedAfterEnd(trace);
  if (trace.removal !== undefined && !(isAfterEnd && reached === "limit")) {
    const when = isAfterEnd ? " after it had ended, and its result is no longer among the queue's events" : "";
    return { notFound: { proven: true, reason: `the job was removed from ${where} by somebody else${when}` } };
  }
  const reason = `the job is no longer in ${where}: trimmed by the retention of other jobs (removeOnComplete, removeOnFail), removed, or lost with Redis' memory`;
  return { notFound: { proven: false, reason } };
};

/** Of a job whose data are left. Unproven: what moves it from list to list may come again. */
export const toUnlisted = (queue: QueuePort): NotFound => {
  const reason = `the job's data are there, but it is in no list of ${locationOf(queue)}, so that no worker comes to it: the queue was emptied by other means than BullMQ's, or Redis has lost a part of its memory`;
  return { proven: false, reason };
};

/**
 * What became of jobs that are no longer there. The queue's events outlive the jobs that other jobs' retention has trimmed, and
 * hold the results.
 */
export const findLostJobs = async (
  queue: QueuePort,
  ids: readonly string[],
  exists: boolean,
  search: SearchEvents,
): Promise<ReadonlyMap<string, InspectOutcome>> => {
  const where = locationOf(queue);
  if (!exists) {
    const reason = `there is nothing of ${where}: another prefix or database, or a Redis that has lost its memory`;
    return new Map(ids.map((id) => [id, { notFound: { proven: false, reason } }]));
  }
  if (ids.length === 0) return new Map();
  const { traces, reached } = await search(queue, ids);
  return new Map(ids.map((id) => [id, toOutcome(where, traces.get(id) ?? {}, reached)]));
};
