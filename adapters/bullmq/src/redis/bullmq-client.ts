import { misconfigured } from "@taskbridge/core/adapter";
import type { ParsedOptions } from "../settings/parse-options.ts";
import { BullQueue as Queue } from "./bull-queue.ts";
import type { BullmqClient, ServerFacts } from "./client.ts";
import { addressOf, type Connection, isRedis, type RedisConnection, toRedis, whenReady } from "./connection.ts";
import { openQueue, prefixOf } from "./queue-port.ts";

const scanCount = 1_000;
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
    const location = `${ofPrefix}:${name}`;
    const known = opened.get(location);
    if (known !== undefined) return known;
    // Else BullMQ would write its default for the length of the event stream over the customer's.
    const queue = new Queue(name, { connection: redis, prefix: ofPrefix, skipMetasUpdate: true });
    queue.on("error", () => {});
    opened.set(location, queue);
    return queue;
  };
  /** A queue that could not be made ready, for want of one answer, never will be: the next call makes another. */
  const readyQueue = async (name: string, ofPrefix: string, redis: RedisConnection): Promise<Queue> => {
    const queue = queueOf(name, ofPrefix, redis);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      const location = `${ofPrefix}:${name}`;
      if (opened.get(location) === queue) opened.delete(location);
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
      return openQueue(queue, redis);
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
