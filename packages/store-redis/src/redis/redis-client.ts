import { Cluster, Redis, type RedisOptions } from "ioredis";
import { isReadOnly } from "./to-error.ts";

/** A client that its user has made, and closes. */
export type GivenClient = Redis | Cluster;
export type RedisClient = Redis | Cluster;
export type { Redis };

export const isCluster = (client: RedisClient): client is Cluster => client.isCluster;

const backOff = (times: number): number => Math.min(50 * 2 ** Math.min(times - 1, 10), 2_000) * (0.5 + Math.random());

/**
 * Commands fail rather than wait: one that ioredis keeps for later, or sends again after a reconnect, would come long after the
 * call that made it was given up. It reconnects for ever.
 */
const settingsOf = (timeoutMs: number) =>
  ({
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    // A connection that the network has forgotten, or a server that stands still.
    socketTimeout: timeoutMs,
    disconnectTimeout: 200,
    connectionName: "taskbridge",
    retryStrategy: backOff,
    // To be led to the new master.
    reconnectOnError: isReadOnly,
    replyMapping: "legacy",
  }) satisfies RedisOptions;

/** Who listens to no error of ioredis has it printed. What goes wrong is told by the calls. */
const silence = <Client extends RedisClient>(client: Client): Client => {
  client.on("error", () => {});
  return client;
};

export const openSingle = (url: string, timeoutMs: number): Redis => silence(new Redis(url, settingsOf(timeoutMs)));

/** The host of `url` is the master's name. */
export const openBySentinels = (url: string, sentinels: readonly string[], timeoutMs: number): Redis => {
  const { username, password, protocol } = new URL(sentinels[0] ?? "");
  return silence(
    new Redis(url, {
      ...settingsOf(timeoutMs),
      name: new URL(url).hostname,
      sentinels: sentinels.map((one) => toNode(one, 26_379)),
      ...(username === "" ? {} : { sentinelUsername: decodeURIComponent(username) }),
      ...(password === "" ? {} : { sentinelPassword: decodeURIComponent(password) }),
      ...(protocol === "rediss:" ? { sentinelTLS: {} } : {}),
      // What its name does not tell: this is about the master.
      ...(new URL(url).protocol === "rediss:" ? { tls: {}, enableTLSForSentinelMode: true } : {}),
      sentinelCommandTimeout: timeoutMs,
      // No failoverDetector: in ioredis 6.0 one that hears of the failover while it is being connected ends the client for good.
      sentinelRetryStrategy: backOff,
    }),
  );
};

/** An IPv6 address stands in brackets in a URL, and without them everywhere else. */
export const toNode = (url: string, usualPort = 6379): { readonly host: string; readonly port: number } => {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? usualPort : Number(port) };
};

export const openCluster = (urls: readonly string[], timeoutMs: number): Cluster => {
  const startNodes = urls.map((one) => toNode(one));
  const { retryStrategy: _retry, enableOfflineQueue: _queue, lazyConnect: _lazy, ...settings } = settingsOf(timeoutMs);
  const { protocol, username, password } = new URL(urls[0] ?? "");
  const login = {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" ? { tls: {} } : {}),
  };
  return silence(
    new Cluster(startNodes, {
      lazyConnect: true,
      enableOfflineQueue: false,
      // Else a command that may have been carried out would be sent again; the topology is read regularly instead.
      retryDelayOnFailover: 0,
      slotsRefreshInterval: 2_000,
      slotsRefreshTimeout: timeoutMs,
      clusterRetryStrategy: backOff,
      redisOptions: { ...settings, ...login },
    }),
  );
};

/** A connection of its own with the same settings, to one server: for what is told. It does not reconnect by itself. */
export const openListener = (client: RedisClient, timeoutMs: number): Redis | undefined => {
  const masters = isCluster(client) ? client.nodes("master") : [client];
  const one = masters[Math.floor(Math.random() * masters.length)];
  if (one === undefined) return undefined;
  return silence(
    one.duplicate({
      ...settingsOf(timeoutMs),
      readOnly: false,
      retryStrategy: null,
      sentinelRetryStrategy: () => null,
    }),
  );
};

/** For messages: host, port and database, never a password. */
export const addressOf = (client: RedisClient): string => {
  if (isCluster(client)) {
    const nodes = client.nodes("all").map(({ options }) => `${options.host}:${options.port}`);
    return nodes.length === 0 ? "its cluster" : nodes.slice(0, 3).join(", ");
  }
  const { host, port, db, path, name, sentinels } = client.options;
  if (sentinels) return `the master ${name} of Sentinel`;
  return path ?? `${host}:${port}${db ? `/${db}` : ""}`;
};
