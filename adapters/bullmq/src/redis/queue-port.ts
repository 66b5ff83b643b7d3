import { inlineOutputBytes } from "@taskbridge/core/adapter";
import { parseJobKeys } from "../execution-ref.ts";
import { toQueueRead } from "../mapping/to-queue-read.ts";
import type { BullQueue } from "./bull-queue.ts";
import type { JobSample, QueuePort } from "./client.ts";
import { openReader, type RedisConnection, toRecord } from "./connection.ts";
import { scripts } from "./scripts.ts";

/** So few jobs that one script does not keep Redis from others for long. */
const pageSize = 100;

/** Our scripts, as ioredis defines them. */
type Scripted = RedisConnection &
  Readonly<Record<keyof typeof scripts, (...args: readonly (string | number)[]) => Promise<unknown>>> & {
    taskbridgeReadResultBuffer(...args: readonly (string | number)[]): Promise<[number, Buffer] | null>;
  };

const withScripts = (redis: RedisConnection): Scripted => {
  if (!("taskbridgeReadJobs" in redis))
    for (const [name, script] of Object.entries(scripts)) redis.defineCommand(name, script);
  return redis as Scripted;
};

/** BullMQ tells it as part of keys only: `<prefix>:<name>:`. */
export const prefixOf = (queue: BullQueue): string => queue.toKey("").slice(0, -queue.name.length - 2);

/** One queue's operations. */
export const openQueue = (queue: BullQueue, connection: RedisConnection): QueuePort => {
  const redis = withScripts(connection);
  const key = (name: string): string => queue.toKey(name);
  const prefix = key("");
  const name = prefixOf(queue);
  return {
    prefix: name,
    name: queue.name,
    add: async (id, job, data, options) => {
      const added = await queue.add(job, data, { ...(options as Parameters<BullQueue["add"]>[2]), jobId: id });
      return added.id ?? "";
    },
    read: async (ids, detailed) => {
      const pageCount = Math.max(1, Math.ceil(ids.length / pageSize));
      const pages = Array.from({ length: pageCount }, (_, page) => ids.slice(page * pageSize, (page + 1) * pageSize));
      const replies = await Promise.all(
        pages.map((page) =>
          redis.taskbridgeReadJobs(
            key("meta"),
            prefix,
            inlineOutputBytes,
            ...page.flatMap((id) => [id, detailed?.has(id) === true ? "1" : "0"]),
          ),
        ),
      );
      return toQueueRead(replies);
    },
    markCancelled: async (id, { reason, isOurs, now }) => {
      const keys = [key(id), key("tb:cancelling")];
      const reply = await redis.taskbridgeMarkCancelled(...keys, prefix, id, reason, isOurs ? "1" : "0", now);
      const [state, children] = reply as ["gone" | "ended" | "held" | "free", string[]];
      return { state, children };
    },
    remove: async (id) => {
      const removed = await queue.remove(id, { removeChildren: false });
      return removed === 1;
    },
    forget: async (id) => {
      await redis.hdel(key("tb:cancelling"), id);
    },
    storeAnswer: async (id, questionId, answerId, answer) => {
      const reply = await redis.taskbridgeStoreAnswer(key(id), key("delayed"), id, questionId, answerId, answer);
      return reply as Awaited<ReturnType<QueuePort["storeAnswer"]>>;
    },
    promote: async (id) => {
      await queue
        .getBackend()
        .promote(id)
        .catch((error: unknown) => {
          // -3: it is not delayed.
          if ((error as { code?: unknown }).code !== -3) throw error;
        });
    },
    readResult: async (id, offset, length) => {
      const reply = await redis.taskbridgeReadResultBuffer(key(id), offset, length);
      return reply === null ? undefined : { totalBytes: Number(reply[0]), bytes: reply[1] };
    },
    readEventsBack: async (from, to, count) => {
      const entries = await redis.xrevrange(key("events"), from, to, "COUNT", count);
      return entries.map(([eventId, flat]) => ({ eventId, fields: toRecord(flat) }));
    },
    now: async () => {
      const [seconds = 0, microseconds = 0] = (await redis.time()).map(Number);
      return seconds * 1000 + Math.floor(microseconds / 1000);
    },
    eventSpan: async () => {
      const [first, last] = await Promise.all([
        redis.xrange(key("events"), "-", "+", "COUNT", 1),
        redis.xrevrange(key("events"), "+", "-", "COUNT", 1),
      ]);
      return first[0] === undefined || last[0] === undefined ? undefined : { first: first[0][0], last: last[0][0] };
    },
    lastEventId: async () => ((await redis.taskbridgeLastEventId(key("events"))) as string | null) ?? undefined,
    endedIds: async (count) => {
      const lists = await Promise.all(
        ["completed", "failed"].map((state) => redis.zrevrange(key(state), 0, count - 1)),
      );
      return lists.flat();
    },
    openEvents: () => openReader(redis, key("events"), queue.getBackend().clientName(":qe")),
    locate: async (jobKey) => {
      const locations = parseJobKeys(jobKey, name);
      const [first] = locations;
      if (locations.length < 2 || first?.prefix === name) return first;
      // Both would have the job under the same key, but only one of these queues is there.
      const used = await Promise.all(
        locations.map((location) =>
          redis.exists(`${location.prefix}:${location.queue}:meta`, `${location.prefix}:${location.queue}:events`),
        ),
      );
      return locations.find((_, index) => (used[index] ?? 0) > 0) ?? first;
    },
    countWorkers: () => queue.getWorkersCount(),
    sample: async (count) => {
      const jobs = await queue.getJobs(undefined, 0, count - 1, false);
      return jobs.flatMap((job): JobSample[] =>
        job === undefined || job === null
          ? []
          : [{ id: job.id ?? "", name: job.name, opts: { ...job.opts }, isRepeated: job.repeatJobKey !== undefined }],
      );
    },
  };
};
