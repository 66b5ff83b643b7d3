import { isObject, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";
import type { BullQueue } from "../redis/bull-queue.ts";
import type { Connection, ConnectionSettings, RedisConnection } from "../redis/connection.ts";
import { type JobOptions, parseJobOptions } from "./parse-job-options.ts";

export interface BullmqAdapterOptions {
  /** `redis://user:password@host:port/db`, or `rediss://` for TLS. Default `redis://127.0.0.1:6379`. */
  readonly url?: string;
  /**
   * In place of `url`: another text of that form, an ioredis client, which stays yours to close, or ioredis' settings for a new one,
   * which may hold a `url`, as BullMQ's own do; `enableOfflineQueue`, `autoResendUnfulfilledCommands`, `maxRetriesPerRequest`,
   * `lazyConnect` and `replyMapping` are the adapter's, whatever they say. A client should have `enableOfflineQueue: false`: else a start that was
   * given up may still be sent later, to no effect but late.
   */
  readonly connection?: Connection;
  /** Queues that you have already, used for the targets that name them; they stay yours to close. Their prefix is their own. */
  readonly queues?: readonly BullQueue[];
  /** BullMQ's key prefix. Default `bull`. */
  readonly prefix?: string;
  /** Job options for all targets, which may override them. */
  readonly jobOptions?: JobOptions;
}

export interface ParsedOptions {
  /** Undefined: only what `queues` brings along. */
  readonly connection: Connection | undefined;
  readonly queues: readonly BullQueue[];
  readonly prefix: string;
  readonly jobOptions: JobOptions;
}

const defaultUrl = "redis://127.0.0.1:6379";

const parseUrl = (path: string, value: unknown): string => {
  // It may hold a password, so it is never shown.
  if (typeof value !== "string" || !/^rediss?:\/\/./.test(value) || !URL.canParse(value))
    throw misconfigured(path, "must be redis://host:port or rediss://host:port");
  return value;
};

const parseConnection = (value: unknown): Connection => {
  if (typeof value === "string") return parseUrl("connection", value);
  if (isObject(value)) {
    if (value.url !== undefined) parseUrl("connection.url", value.url);
    return value as unknown as RedisConnection | ConnectionSettings;
  }
  throw misconfigured("connection", "must be redis://host:port, an ioredis client or its settings");
};

const parsePrefix = (value: unknown): string => {
  if (typeof value === "string" && value !== "") return value;
  throw misconfigured("prefix", `must be a text, got ${showValue(value)}`);
};

const parseQueues = (value: unknown): readonly BullQueue[] => {
  const isQueue = (queue: unknown): boolean =>
    isObject(queue) && typeof queue.name === "string" && typeof queue.add === "function";
  if (Array.isArray(value) && value.every(isQueue)) return value as readonly BullQueue[];
  throw misconfigured("queues", "must be a list of BullMQ Queue objects");
};

const names = ["url", "connection", "queues", "prefix", "jobOptions"];

/** Checks what a program or a configuration file gave. Throws `misconfigured` with `data.path`. */
export const parseOptions = (options: Readonly<Record<string, unknown>>): ParsedOptions => {
  refuseOtherMembers(options, names, "", "unknown option");
  const { url, connection } = options;
  if (url !== undefined && connection !== undefined) throw misconfigured("connection", "stands in place of url");
  const queues = options.queues === undefined ? [] : parseQueues(options.queues);
  const given = connection === undefined ? undefined : parseConnection(connection);
  const own = url === undefined ? given : parseUrl("url", url);
  return {
    connection: own ?? (queues.length > 0 ? undefined : defaultUrl),
    queues,
    prefix: parsePrefix(options.prefix ?? "bull"),
    jobOptions: options.jobOptions === undefined ? {} : parseJobOptions(options.jobOptions, "jobOptions"),
  };
};
