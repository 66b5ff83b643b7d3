import type { ExecutionSnapshot, InspectOutcome } from "@taskbridge/core/adapter";
import { toOutput } from "../mapping/to-output.ts";
import { toFailure } from "../mapping/to-snapshot.ts";
import type { KeptEnd, QueuePort } from "../redis/client.ts";

const page = 1_000;
/** BullMQ keeps about 10,000 events of a queue, unless it is told otherwise. */
const mostPages = 50;

/** The end of a job that the event stream tells. */
export const toKeptEnd = ({ eventId, event, text }: KeptEnd): ExecutionSnapshot | undefined => {
  const endedAt = Number.parseInt(eventId, 10);
  if (event === "failed") return { status: "failed", failure: toFailure(text, undefined), questions: [], endedAt };
  if (event !== "completed") return undefined;
  const output = toOutput(text);
  return { status: "succeeded", questions: [], endedAt, ...(output === undefined ? {} : { output }) };
};

const search = async (queue: QueuePort, ids: readonly string[]): Promise<ReadonlyMap<string, KeptEnd>> => {
  const found = new Map<string, KeptEnd>();
  let before: string | undefined = "+";
  for (let pages = 0; before !== undefined && pages < mostPages && found.size < ids.length; pages++) {
    const { ends, next } = await queue.findEnds(
      ids.filter((id) => !found.has(id)),
      before,
      page,
    );
    for (const end of ends) found.set(end.jobId, end);
    before = next;
  }
  return found;
};

/**
 * What became of jobs that are no longer there. The queue's events outlive the jobs that other jobs' retention has trimmed, and
 * hold the results.
 */
export const findLostJobs = async (
  queue: QueuePort,
  ids: readonly string[],
  exists: boolean,
): Promise<ReadonlyMap<string, InspectOutcome>> => {
  const ends = exists && ids.length > 0 ? await search(queue, ids) : new Map<string, KeptEnd>();
  return new Map(
    ids.map((id): [string, InspectOutcome] => {
      const end = ends.get(id);
      const snapshot = end === undefined ? undefined : toKeptEnd(end);
      if (snapshot !== undefined) return [id, { snapshot }];
      const where = `the queue ${queue.name} (prefix ${queue.prefix})`;
      if (end !== undefined)
        return [id, { notFound: { proven: true, reason: `the job was removed from ${where} by somebody else` } }];
      const reason = exists
        ? `the job is no longer in ${where}: trimmed by the retention of other jobs (removeOnComplete, removeOnFail), removed, or lost with Redis' memory`
        : `there is nothing of ${where}: another prefix or database, or a Redis that has lost its memory`;
      return [id, { notFound: { proven: false, reason } }];
    }),
  );
};
