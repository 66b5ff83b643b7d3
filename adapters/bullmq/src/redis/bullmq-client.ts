import { inlineOutputBytes } from "@taskbridge/core/adapter";
import { type JobsOptions, Queue } from "bullmq";
import { parseJobKeys } from "../execution-ref.ts";
import { toQueueRead } from "../mapping/to-queue-read.ts";
import { misconfigured } from "../settings/misconfigured.ts";
import type { ParsedOptions } from "../settings/parse-options.ts";
import type { BullmqClient, JobSample, QueuePort, ServerFacts } from "./client.ts";
import {
  addressOf,
  type Connection,
  isRedis,
  openReader,
  type RedisConnection,
  toRecord,
  toRedis,
  whenReady,
} from "./connection.ts";
import { scripts } from "./scripts.ts";

export type BullQueue = Queue;

const scanCount = 1_000;
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
const prefixOf = (queue: Queue): string => queue.toKey("").slice(0, -queue.name.length - 2);

/** One queue's operations. */
const openQueue = (queue: Queue, redis: Scripted): QueuePort => {
  const key = (name: string): string => queue.toKey(name);
  const prefix = key("");
  const name = prefixOf(queue);
  return {
    prefix: name,
    name: queue.name,
    add: async (id, job, data, options) => {
      const added = await queue.add(job, data, { ...(options as JobsOptions), jobId: id });
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
      const places = parseJobKeys(jobKey, name);
      const [first] = places;
      if (places.length < 2 || first?.prefix === name) return first;
      // Both would have the job under the same key, but only one of these queues is there.
      const used = await Promise.all(
        places.map((place) =>
          redis.exists(`${place.prefix}:${place.queue}:meta`, `${place.prefix}:${place.queue}:events`),
        ),
      );
      return places.find((_, index) => (used[index] ?? 0) > 0) ?? first;
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

const toServerFacts = (info: string): ServerFacts => {
  const fact = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  const valkey = fact("valkey_version");
  return {
    flavour: valkey === undefined ? "Redis" : "Valkey",
    version: valkey ?? fact("redis_version") ?? "unknown",
    evictionPolicy: fact("maxmemory_policy"),
  };
};

/** Connects at the first use. */
export const bullmqClient = ({ connection, queues, prefix: defaultPrefix }: ParsedOptions): BullmqClient => {
  const opened = new Map<string, Queue>();
  /** In place of the connections of queues that never became ready. */
  const spares = new Map<Queue, RedisConnection>();
  let own: RedisConnection | undefined;

  const connect = (): RedisConnection => {
    if (connection === undefined) throw misconfigured("url", "is needed beside queues, for all that they do not name");
    if (own !== undefined) return own;
    own = toRedis(connection);
    own.on("error", () => {});
    return own;
  };
  const given = (name: string, ofPrefix: string): Queue | undefined =>
    queues.find((queue) => queue.name === name && prefixOf(queue) === ofPrefix);
  /**
   * What a queue of theirs lends. BullMQ makes a queue ready once: where that failed, be it for want of one answer, only its connection
   * is of use, or another one with the same settings.
   */
  const borrow = async (queue: Queue): Promise<{ readonly redis: RedisConnection; readonly isReady: boolean }> => {
    const theirs = queue.opts.connection as Exclude<Connection, string>;
    // Else a server that is away would be waited for.
    if (isRedis(theirs)) await whenReady(theirs);
    try {
      await queue.waitUntilReady();
      // BullMQ's wrapper of an ioredis client, which has all of its methods.
      return { redis: (await queue.getBackend().client) as unknown as RedisConnection, isReady: true };
    } catch {
      const redis = spares.get(queue) ?? toRedis(theirs);
      if (redis !== theirs && !spares.has(queue)) redis.on("error", () => {});
      spares.set(queue, redis);
      return { redis, isReady: false };
    }
  };
  const anyClient = async (): Promise<RedisConnection> => {
    const [first] = queues;
    const redis = connection === undefined && first !== undefined ? (await borrow(first)).redis : connect();
    await whenReady(redis);
    return redis;
  };
  const queueOf = (name: string, ofPrefix: string, redis: RedisConnection): Queue => {
    const place = `${ofPrefix}:${name}`;
    const known = opened.get(place);
    if (known !== undefined) return known;
    // Else BullMQ would write its default for the length of the event stream over the customer's.
    const queue = new Queue(name, { connection: redis, prefix: ofPrefix, skipMetasUpdate: true });
    queue.on("error", () => {});
    opened.set(place, queue);
    return queue;
  };
  /** A queue that could not be made ready, for want of one answer, never will be: the next call makes another. */
  const readyQueue = async (name: string, ofPrefix: string, redis: RedisConnection): Promise<Queue> => {
    const queue = queueOf(name, ofPrefix, redis);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      const place = `${ofPrefix}:${name}`;
      if (opened.get(place) === queue) opened.delete(place);
      queue.close().catch(() => {});
      throw error;
    }
  };

  return {
    address: addressOf(connection),
    open: async ({ prefix, queue: name }, parent) => {
      const theirs = given(name, prefix);
      const lender =
        theirs ?? (connection === undefined && parent !== undefined ? given(parent.queue, parent.prefix) : undefined);
      const { redis, isReady } = lender === undefined ? { redis: connect(), isReady: false } : await borrow(lender);
      await whenReady(redis);
      const queue = theirs !== undefined && isReady ? theirs : await readyQueue(name, prefix, redis);
      return openQueue(queue, withScripts(redis));
    },
    prefixOf: (name) => {
      const theirs = queues.find((queue) => queue.name === name);
      return theirs === undefined ? defaultPrefix : prefixOf(theirs);
    },
    server: async () => toServerFacts(await (await anyClient()).info()),
    async *listQueues(prefix) {
      const redis = await anyClient();
      const pattern = `${prefix.replace(/[*?[\]\\]/g, "\\$&")}:*:meta`;
      let cursor = "0";
      do {
        const [next, keys] = await redis.scan(cursor, "MATCH", pattern, "COUNT", scanCount);
        for (const key of keys) yield key.slice(prefix.length + 1, -":meta".length);
        cursor = next;
      } while (cursor !== "0");
    },
    close: async () => {
      const closing = [...opened.values()];
      opened.clear();
      for (const queue of closing) queue.close().catch(() => {});
      for (const [queue, redis] of spares) if (redis !== (queue.opts.connection as unknown)) redis.disconnect();
      spares.clear();
      if (own !== connection) own?.disconnect();
      own = undefined;
    },
  };
};
