import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ensureRedis, startRedis } from "@taskbridge/services/redis";
import { createStore } from "@taskbridge/store-redis";
import { Redis } from "ioredis";
import type { StoreKind, Usage } from "./benched-store.ts";
import { writeRedis } from "./write-redis.ts";

const pollMs = 100;

/** `fsync` as `appendfsync` says it. */
const redisKindOf = (name: string, fsync: "everysec" | "always"): StoreKind => ({
  name,
  createStore,
  start: async () => {
    const server = await startRedis({
      program: await findProgram(),
      appendOnly: true,
      flags: ["--appendfsync", fsync, "--maxmemory-policy", "noeviction"],
    });
    const client = new Redis(server.url, { lazyConnect: true });
    try {
      await client.connect();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return {
      url: server.url,
      durability: `append-only file, appendfsync ${fsync}`,
      open: () => createStore(server.url, { baseDirectory: process.cwd() }),
      filling: { write: writeRedis(server.host, server.port) },
      usage: () => usageOf(client),
      close: async () => {
        client.disconnect();
        await server.stop();
      },
    };
  },
});

export const redisKind: StoreKind = redisKindOf("redis", "everysec");
export const redisAlwaysKind: StoreKind = redisKindOf("redis-always", "always");

const findProgram = async (): Promise<string> => {
  const engine = await ensureRedis();
  if (engine.kind === "program") return engine.path;
  const reason =
    engine.kind === "missing"
      ? engine.reason
      : "REDIS_URL names a server that is not ours to fill: unset it, or name a program by TASKBRIDGE_REDIS_SERVER";
  throw new Error(`no Redis to measure: ${reason}`);
};

/** The log as it is once it has been rewritten, without what has been overwritten. */
const usageOf = async (client: Redis): Promise<Usage> => {
  await client.bgrewriteaof();
  for (;;) {
    const text = await client.info("persistence");
    if (/^aof_rewrite_in_progress:0\r?$/m.test(text) && /^aof_rewrite_scheduled:0\r?$/m.test(text)) break;
    await pause(pollMs);
  }
  const [, used] = /^used_memory:(\d+)/m.exec(await client.info("memory")) ?? [];
  const [, folder = ""] = (await client.config("GET", "dir")) as string[];
  return { memoryBytes: Number(used), diskBytes: await sizeOf(folder) };
};

const sizeOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((total, size) => total + size, 0);
};
