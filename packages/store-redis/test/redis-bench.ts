import { randomBytes } from "node:crypto";
import { afterAll, describe, it } from "@jest/globals";
import { type BridgeError, isBridgeError, removedIdReservedMs, type TaskStore } from "@taskbridge/core/store";
import { findRedis, type RedisServer, type RedisServerOptions, startRedis } from "@taskbridge/services/redis";
import { Redis } from "ioredis";
import { type RedisStoreOptions, redisStore } from "../src/index.ts";

export const engine: Awaited<ReturnType<typeof findRedis>> = await findRedis();

/** A suite that needs a Redis. `own`: one that it stops, pauses or sets up. Skipped by name where there is none. */
export const describeRedis = (name: string, body: () => void, own = false): void => {
  const missing =
    engine.kind === "missing"
      ? engine.reason
      : own && engine.kind === "url"
        ? "it needs a Redis of its own, and REDIS_URL is not ours to stop"
        : undefined;
  if (missing === undefined) describe(name, body);
  else if (process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing")
    it(`${name}: needs a Redis`, () => {
      throw new Error(missing);
    });
  else describe.skip(`${name} (SKIPPED: ${missing})`, body);
};

/** Starts a server for the tests of this file that set it up themselves. Ends with the file. */
export const startOwn = async (options: Partial<RedisServerOptions> = {}): Promise<RedisServer> => {
  if (engine.kind !== "program") throw new Error("no program to start a Redis with");
  const server = await startRedis({ program: engine.path, ...options });
  closing.push(() => server.stop());
  return server;
};

const closing: (() => unknown)[] = [];

/** Runs when the tests of this file are over, what was given last first. */
export const afterFile = (close: () => unknown): void => void closing.push(close);

let shared: Promise<string> | undefined;

/** A server for all tests of this file that leave it as it is. */
export const sharedUrl = (): Promise<string> => {
  shared ??= engine.kind === "url" ? Promise.resolve(engine.url) : startOwn().then(({ url }) => url);
  return shared;
};

afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A client that ends with the file. */
export const connect = (url: string): Redis => {
  const redis = new Redis(url, { disconnectTimeout: 100 });
  redis.on("error", () => {});
  closing.push(() => redis.disconnect());
  return redis;
};

export const newPrefix = (): string => `tb-${randomBytes(6).toString("hex")}:`;

/** Opens a store that is closed with the file. */
export const openStore = async (options: RedisStoreOptions): Promise<TaskStore> => {
  const store = await redisStore(options);
  closing.push(() => store.close());
  return store;
};

/** A server that is not ours is left as it was. */
export const removeKeys = async (redis: Redis, prefix: string): Promise<void> => {
  const keys = await redis.keys(`${prefix}*`);
  if (keys.length > 0) await redis.del(keys);
};

/** As if the time of all IDs that were removed had passed. `redis`: a server alone, or each node. */
export const endRemovals = async (redis: readonly Redis[], prefix: string): Promise<void> => {
  for (const node of redis)
    for (const removed of await node.keys(`${prefix}*removed`))
      for (const taskId of await node.zrange(removed, 0, "-1"))
        await node.zincrby(removed, -removedIdReservedMs, taskId);
};

/** What a promise rejects with; fails when it resolves or when that is no BridgeError. */
export const rejectionOf = async (promise: Promise<unknown>): Promise<BridgeError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isBridgeError(error)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  return error;
};

/** Waits until there is a result; the time is only there to end a test that fails. */
export const until = async <Value>(
  what: string,
  probe: () => Promise<Value | undefined> | Value | undefined,
  deadlineMs = 15_000,
): Promise<Value> => {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
