import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { TaskStore } from "@taskbridge/core/store";
import type { ProxyTarget } from "@taskbridge/services/fault-proxy";
import { ensurePostgres, findPostgres, startPostgres } from "@taskbridge/services/postgres";
import { ensureRedis, findRedis, type RedisServer, startRedis } from "@taskbridge/services/redis";
import { postgresStore } from "@taskbridge/store-postgres";
import { redisStore } from "@taskbridge/store-redis";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { Redis } from "ioredis";
import { Client } from "pg";

export type StoreKind = "sqlite" | "redis" | "postgres";

/** What the replicas share. */
export interface BackingStore {
  /** Where it listens; undefined for one that is a file. */
  readonly server: ProxyTarget | undefined;
  /** The `store` of a configuration that reaches it at this address. */
  urlAt(address: ProxyTarget | undefined): string;
  /** Opens it as a replica does, without any fault between. */
  open(): Promise<TaskStore>;
  /** Marks it as one that the next version has opened, which this one may go on with. */
  announceNext(): Promise<void>;
  /** SIGKILL, and up again after `downMs`. */
  restart(downMs: number): Promise<void>;
  close(): Promise<void>;
}

/** `folder`: of the run. */
export const openBackingStore = (kind: StoreKind, folder: string): Promise<BackingStore> => {
  if (kind === "redis") return redisServer();
  return kind === "postgres" ? postgresServer() : sqliteFile(folder);
};

/**
 * Installs what the run needs, where that may be done; why it cannot be had, if so. Servers that REDIS_URL and DATABASE_URL
 * name are left alone: ours are killed.
 */
export const ensureEngines = async (kind: StoreKind): Promise<string | undefined> => {
  delete process.env["REDIS_URL"];
  delete process.env["DATABASE_URL"];
  const redis = await ensureRedis();
  if (redis.kind === "missing") return redis.reason;
  const postgres = kind === "postgres" ? await ensurePostgres() : undefined;
  return postgres?.kind === "missing" ? postgres.reason : undefined;
};

/** One file, which all replicas open. */
const sqliteFile = async (folder: string): Promise<BackingStore> => {
  const path = join(folder, "tasks.db");
  return {
    server: undefined,
    urlAt: () => `sqlite:${path}`,
    open: () => sqliteStore({ path }),
    // It has one version only, which its readers must have.
    announceNext: async () => {},
    restart: async () => {},
    close: async () => {},
  };
};

const redisServer = async (): Promise<BackingStore> => {
  const server = await startDurableRedis();
  return {
    server,
    urlAt: (address = server) => `redis://${address.host}:${address.port}`,
    open: () => redisStore({ url: server.url }),
    announceNext: async () => {
      const redis = new Redis(server.url);
      await redis.set("taskbridge:{meta}schema", JSON.stringify({ version: 2, readableBy: 1 }));
      redis.disconnect();
    },
    restart: async (downMs) => {
      await server.kill();
      await pause(downMs);
      await server.restart();
    },
    close: server.stop,
  };
};

const postgresServer = async (): Promise<BackingStore> => {
  const engine = await findPostgres();
  if (engine.kind !== "programs") throw new Error("there is no PostgreSQL of our own to start");
  const server = await startPostgres({ programs: engine.folder, durable: true });
  return {
    server,
    urlAt: (address = server) => {
      const url = new URL(server.url);
      url.host = `${address.host}:${address.port}`;
      return url.href;
    },
    open: () => postgresStore({ url: server.url }),
    announceNext: async () => {
      await (await postgresStore({ url: server.url })).close();
      const client = new Client({ connectionString: server.url });
      await client.connect();
      await client.query(
        "INSERT INTO taskbridge.schema_versions (version, readable_by) SELECT max(version) + 1, 1 FROM taskbridge.schema_versions",
      );
      await client.end();
    },
    restart: async (downMs) => {
      await server.kill();
      await pause(downMs);
      await server.restart();
    },
    close: server.stop,
  };
};

/** One of our own, which keeps what it has answered for even when it is killed. */
export const startDurableRedis = async (): Promise<RedisServer> => {
  const engine = await findRedis();
  if (engine.kind !== "program") throw new Error("there is no Redis of our own to start");
  return startRedis({ program: engine.path, appendOnly: true, flags: ["--appendfsync", "always"] });
};
