import { Redis, type RedisOptions } from "ioredis";
import { blockMs, type EventReader } from "./client.ts";

export type RedisConnection = Redis;
/** ioredis' settings; what `url` says wins over those beside it, as with BullMQ. */
export type ConnectionSettings = RedisOptions & { readonly url?: string };
export type Connection = string | RedisConnection | ConnectionSettings;

/**
 * Commands fail instead of waiting: a command that ioredis keeps for later, or sends again after a reconnect, would come long
 * after the call that made it was given up.
 */
const ours = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // With RESP3's mapping streams are read as maps.
  replyMapping: "legacy",
} satisfies RedisOptions;

const defaults = {
  connectTimeout: 5_000,
  disconnectTimeout: 200,
  // A connection that the network has forgotten would swallow commands for a quarter of an hour. Longer than a reader waits for
  // events.
  socketTimeout: 4 * blockMs,
  retryStrategy: (times: number) => Math.min(10 * 4 ** Math.min(times - 1, 5), 1_000),
} satisfies RedisOptions;

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
export const whenReady = (redis: Redis): Promise<void> => {
  if (redis.status === "ready") return Promise.resolve();
  const waiting = opening.get(redis) ?? untilReady(redis);
  opening.set(redis, waiting);
  return waiting;
};

export const isRedis = (connection: Exclude<Connection, string>): connection is Redis =>
  typeof (connection as Partial<Redis>).duplicate === "function";

export const toRedis = (connection: Connection): Redis => {
  if (typeof connection === "string") return new Redis(connection, { ...defaults, ...ours });
  if (isRedis(connection)) return connection;
  const { url, ...own } = connection;
  const all = { ...defaults, ...own, ...ours };
  return url === undefined ? new Redis(all) : new Redis(url, all);
};

const ofUrl = (url: string): string => {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port === "" ? 6379 : port}${pathname === "/" ? "" : pathname}`;
};

export const addressOf = (connection: Connection | undefined): string => {
  if (typeof connection === "string") return ofUrl(connection);
  if (connection !== undefined && !isRedis(connection) && connection.url !== undefined) return ofUrl(connection.url);
  const own = connection === undefined ? {} : isRedis(connection) ? connection.options : connection;
  const { host = "127.0.0.1", port = 6379, path } = own;
  return path ?? `${host}:${port}`;
};

/** Reads a stream of events on a connection of its own. */
export const openReader = (redis: Redis, key: string, connectionName: string): EventReader => {
  // What has `QueueEvents` lose events is its start at `$`, and it ends at one that is not JSON; nor does it wait for who listens.
  const reader = redis.duplicate({ ...defaults, ...ours, connectionName });
  reader.on("error", () => {});
  return {
    read: async (after, count) => {
      await whenReady(reader);
      const streams = await reader.xread("COUNT", count, "BLOCK", blockMs, "STREAMS", key, after);
      const entries = streams?.[0]?.[1] ?? [];
      return entries.map(([eventId, flat]) => ({ eventId, fields: toRecord(flat) }));
    },
    close: () => reader.disconnect(),
  };
};

/** Fields of a stream's entry, as Redis lists them. */
export const toRecord = (flat: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""]] : [])));
