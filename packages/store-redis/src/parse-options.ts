import { BridgeError, refuseOtherMembers, showValue } from "@taskbridge/core/store";
import type { GivenClient } from "./redis/redis-client.ts";

/** How many replicas must have a durable write before it resolves. */
export interface WaitReplicas {
  /** Replicas of each master; from 1. */
  readonly count: number;
  /** Milliseconds after which a write that too few have acknowledged rejects with `unavailable`, although it is on the master. Default 1000. */
  readonly timeoutMs?: number;
}

export interface RedisStoreOptions {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. A node of a Redis Cluster is recognised as one. */
  readonly url?: string;
  /** Further nodes of a Redis Cluster to begin with, written like `url`; user, password and TLS are those of `url`. */
  readonly nodes?: readonly string[];
  /**
   * Sentinels that know where the master is, written like `url`; the login and TLS of the first are used for all. The host of `url` is
   * then the master's name, without a port. Not with `nodes`.
   */
  readonly sentinels?: readonly string[];
  /** A client of your own (`Redis` or `Cluster` of ioredis 6, without `keyPrefix`), instead of `url`; you close it. */
  readonly client?: GivenClient;
  /** What all keys begin with. Stores with different prefixes share a server without meeting. No braces. Default `taskbridge:`. */
  readonly prefix?: string;
  /** Milliseconds after which a call that has no answer rejects with `unavailable`. Default 5000. */
  readonly operationTimeoutMs?: number;
  /** Has durable writes wait for replicas. Default: they wait for the master only. */
  readonly waitReplicas?: WaitReplicas;
  /** Milliseconds from any beginning, going by evenly; for tests. Default: the process' monotonic clock. */
  readonly clock?: { now(): number };
}

/** The options with their defaults. */
export interface ParsedOptions {
  readonly source:
    | { readonly url: string; readonly nodes: readonly string[]; readonly sentinels: readonly string[] }
    | { readonly client: GivenClient };
  readonly prefix: string;
  readonly operationTimeoutMs: number;
  readonly waitReplicas: Required<WaitReplicas> | undefined;
}

const refuse = (path: string, problem: string): BridgeError =>
  new BridgeError("misconfigured", `${path}: ${problem}`, { data: { path } });

/** Throws `misconfigured`, naming the option. */
export const parseOptions = (options: RedisStoreOptions): ParsedOptions => {
  const { prefix = "taskbridge:", operationTimeoutMs = 5000, waitReplicas } = options;
  if (typeof prefix !== "string" || /[{}]/.test(prefix))
    throw refuse("prefix", `must be a text without braces, got ${showValue(prefix)}`);
  requireCount("operationTimeoutMs", operationTimeoutMs);
  return {
    source: parseSource(options),
    prefix,
    operationTimeoutMs,
    waitReplicas: waitReplicas === undefined ? undefined : parseWait(waitReplicas, operationTimeoutMs),
  };
};

const parseSource = ({ url, nodes, sentinels, client }: RedisStoreOptions): ParsedOptions["source"] => {
  if (client !== undefined) {
    if (url !== undefined || nodes !== undefined || sentinels !== undefined)
      throw refuse("client", "takes the place of url, nodes and sentinels");
    if (client.options.keyPrefix) throw refuse("client", "must have no keyPrefix; use prefix");
    return { client };
  }
  if (url === undefined) throw refuse("url", "is missing");
  assertUrl("url", url);
  assertUrls("nodes", nodes);
  assertUrls("sentinels", sentinels);
  if (nodes !== undefined && sentinels !== undefined)
    throw refuse("sentinels", "know one master, a cluster (nodes) has several");
  if (sentinels?.length === 0) throw refuse("sentinels", "must have at least one");
  if (new Set(sentinels?.map((one) => new URL(one).protocol)).size > 1)
    throw refuse("sentinels", "must all be redis:// or all rediss://");
  if (sentinels !== undefined && new URL(url).port !== "")
    throw refuse("url", "must name the master without a port, for the sentinels know that");
  return { url, nodes: nodes ?? [], sentinels: sentinels ?? [] };
};

const assertUrls = (path: string, urls: readonly string[] | undefined): void => {
  if (urls === undefined) return;
  if (!Array.isArray(urls)) throw refuse(path, "must be a list");
  for (const [index, url] of urls.entries()) assertUrl(`${path}[${index}]`, url);
};

/** The message does not repeat the text, which may hold a password. */
const assertUrl = (path: string, text: unknown): void => {
  const form = "must be redis://HOST[:PORT][/DATABASE], or rediss:// for TLS";
  if (typeof text !== "string" || !URL.canParse(text)) throw refuse(path, form);
  const { protocol, hostname, pathname } = new URL(text);
  if (!["redis:", "rediss:"].includes(protocol) || hostname === "" || !/^\/?\d*$/.test(pathname))
    throw refuse(path, form);
};

const requireCount = (path: string, value: unknown): void => {
  if (!Number.isSafeInteger(value) || Number(value) < 1)
    throw refuse(path, `must be a whole number from 1, got ${showValue(value)}`);
};

const parseWait = (wait: WaitReplicas, operationTimeoutMs: number): Required<WaitReplicas> => {
  if (typeof wait !== "object" || wait === null) throw refuse("waitReplicas", "must have a count");
  refuseOtherMembers(wait, ["count", "timeoutMs"], "waitReplicas.", "unknown option");
  const { count, timeoutMs = 1000 } = wait;
  requireCount("waitReplicas.count", count);
  requireCount("waitReplicas.timeoutMs", timeoutMs);
  if (timeoutMs >= operationTimeoutMs)
    throw refuse(
      "waitReplicas.timeoutMs",
      `must be less than operationTimeoutMs (${operationTimeoutMs}), got ${timeoutMs}`,
    );
  return { count, timeoutMs };
};
