import { inlineOutputBytes } from "@taskbridge/core/adapter";
import { type JobsOptions, Queue } from "bullmq";
import { Redis, type RedisOptions } from "ioredis";
import { toQueueRead } from "../mapping/to-queue-read.ts";
import { misconfigured } from "../settings/misconfigured.ts";
import type { ParsedOptions } from "../settings/parse-options.ts";
import type { BullmqClient, EventReader, JobSample, QueuePort, ServerFacts } from "./client.ts";
import { scripts } from "./scripts.ts";

export type BullQueue = Queue;
export type RedisConnection = Redis;
export type RedisSettings = RedisOptions;

/**
 * Commands fail instead of waiting: a command that ioredis keeps for later, or sends again after a reconnect, would come long
 * after the call that made it was given up.
 */
const settings = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 5_000,
  disconnectTimeout: 200,
  // A connection that the network has forgotten would swallow commands for a quarter of an hour.
  socketTimeout: 20_000,
  retryStrategy: (times: number) => Math.min(10 * 4 ** Math.min(times - 1, 5), 1_000),
} satisfies RedisOptions;

const scanCount = 1_000;
/** So few jobs that one script does not keep Redis from others for long. */
const pageSize = 100;

/** Our scripts, as ioredis defines them. */
type Scripted = Redis &
  Readonly<Record<keyof typeof scripts, (...args: readonly (string | number)[]) => Promise<unknown>>> & {
    taskbridgeReadResultBuffer(...args: readonly (string | number)[]): Promise<[number, Buffer] | null>;
  };

const withScripts = (redis: Redis): Scripted => {
  if (!("taskbridgeReadJobs" in redis))
    for (const [name, script] of Object.entries(scripts)) redis.defineCommand(name, script);
  return redis as Scripted;
};

const opening = new WeakMap<Redis, Promise<void>>();

const untilReady = (redis: Redis): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      opening.delete(redis);
      redis.off("ready", settle);
      redis.off("error", settle);
      redis.off("end", onEnd);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onEnd = (): void => settle(new Error("the connection is closed"));
    redis.once("ready", settle);
    redis.once("error", settle);
    redis.once("end", onEnd);
    // Made lazily. Its failure is told by the event.
    if (redis.status === "wait" || redis.status === "end") redis.connect().catch(() => {});
  });

/** Waits for a connection that is being made; a failed attempt rejects, although ioredis goes on trying. */
const whenReady = (redis: Redis): Promise<void> => {
  if (redis.status === "ready") return Promise.resolve();
  const waiting = opening.get(redis) ?? untilReady(redis);
  opening.set(redis, waiting);
  return waiting;
};

type Connection = NonNullable<ParsedOptions["connection"]>;

const isRedis = (connection: Exclude<Connection, string>): connection is Redis =>
  typeof (connection as Partial<Redis>).duplicate === "function";

const toRedis = (connection: Connection): Redis => {
  if (typeof connection === "string") return new Redis(connection, settings);
  if (isRedis(connection)) return connection;
  const { url, ...own } = connection;
  const all = { ...own, ...settings, replyMapping: "legacy" as const };
  return url === undefined ? new Redis(all) : new Redis(url, all);
};

const ofUrl = (url: string): string => {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port === "" ? 6379 : port}${pathname === "/" ? "" : pathname}`;
};

const addressOf = (connection: ParsedOptions["connection"]): string => {
  if (typeof connection === "string") return ofUrl(connection);
  if (connection !== undefined && !isRedis(connection) && connection.url !== undefined) return ofUrl(connection.url);
  const own = connection === undefined ? {} : isRedis(connection) ? connection.options : connection;
  const { host = "127.0.0.1", port = 6379, path } = own;
  return path ?? `${host}:${port}`;
};

const openReader = (redis: Redis, key: string, connectionName: string): EventReader => {
  // What has `QueueEvents` lose events is its start at `$`, and it ends at one that is not JSON; nor does it wait for who listens.
  const reader = redis.duplicate({ ...settings, connectionName });
  reader.on("error", () => {});
  return {
    read: async (after, count, blockMs) => {
      await whenReady(reader);
      const streams = await reader.xread("COUNT", count, "BLOCK", blockMs, "STREAMS", key, after);
      const entries = streams?.[0]?.[1] ?? [];
      return entries.map(([eventId, flat]) => ({ eventId, fields: toRecord(flat) }));
    },
    close: () => reader.disconnect(),
  };
};

const toRecord = (flat: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""]] : [])));

/** One queue's operations. */
const openQueue = (queue: Queue, redis: Scripted): QueuePort => {
  const key = (name: string): string => queue.toKey(name);
  const prefix = key("");
  return {
    prefix: prefix.slice(0, -queue.name.length - 2),
    name: queue.name,
    add: async (id, name, data, options) => {
      const job = await queue.add(name, data, { ...(options as JobsOptions), jobId: id });
      return job.id ?? "";
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
    markCancelled: async (id, reason, isOurs) => {
      const keys = [key(id), key("tb:cancelling")];
      const reply = await redis.taskbridgeMarkCancelled(...keys, prefix, id, reason, isOurs ? "1" : "0", Date.now());
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
    hasDroppedEvents: async () => {
      if ((await redis.exists(key("events"))) === 0) return false;
      const reply: unknown = await redis.xinfo("STREAM", key("events"));
      const facts = Array.isArray(reply) ? reply : Object.entries(reply as object).flat();
      const fact = (name: string): unknown => facts[facts.indexOf(name) + 1];
      return fact("entries-added") !== fact("length");
    },
    eventSpan: async () => {
      const [first, last] = await Promise.all([
        redis.xrange(key("events"), "-", "+", "COUNT", 1),
        redis.xrevrange(key("events"), "+", "-", "COUNT", 1),
      ]);
      return first[0] === undefined || last[0] === undefined ? undefined : { first: first[0][0], last: last[0][0] };
    },
    endedIds: async (count) => {
      const lists = await Promise.all(
        ["completed", "failed"].map((state) => redis.zrevrange(key(state), 0, count - 1)),
      );
      return lists.flat();
    },
    openEvents: () => openReader(redis, key("events"), queue.getBackend().clientName(":qe")),
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
export const bullmqClient = ({ connection, queues }: ParsedOptions): BullmqClient => {
  const opened = new Map<string, Queue>();
  let own: Redis | undefined;

  const connect = (): Redis => {
    if (connection === undefined) throw misconfigured("url", "is needed beside queues, for all that they do not name");
    if (own !== undefined) return own;
    own = toRedis(connection);
    own.on("error", () => {});
    return own;
  };
  const given = (name: string, ofPrefix: string): Queue | undefined =>
    queues.find((queue) => queue.toKey("") === `${ofPrefix}:${name}:`);
  const clientOf = async (queue: Queue): Promise<Redis> => {
    await queue.waitUntilReady();
    // BullMQ's wrapper of an ioredis client, which has all of its methods.
    return (await queue.getBackend().client) as unknown as Redis;
  };
  const anyClient = async (): Promise<Redis> => {
    const [first] = queues;
    const redis = connection === undefined && first !== undefined ? await clientOf(first) : connect();
    await whenReady(redis);
    return redis;
  };
  const queueOf = (name: string, ofPrefix: string, redis: Redis): Queue => {
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
  const readyQueue = async (name: string, ofPrefix: string, redis: Redis): Promise<Queue> => {
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
      const redis = lender === undefined ? connect() : await clientOf(lender);
      await whenReady(redis);
      return openQueue(theirs ?? (await readyQueue(name, prefix, redis)), withScripts(redis));
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
      if (own !== connection) own?.disconnect();
      own = undefined;
    },
  };
};
