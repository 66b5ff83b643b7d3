import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { TaskStore } from "@taskbridge/core/store";
import type { ProxyTarget } from "@taskbridge/services/fault-proxy";
import { findPostgres, startPostgres } from "@taskbridge/services/postgres";
import { findRedis, type RedisServer, startRedis } from "@taskbridge/services/redis";
import { postgresStore } from "@taskbridge/store-postgres";
import { redisStore } from "@taskbridge/store-redis";
import { sqliteStore } from "@taskbridge/store-sqlite";

export type StoreKind = "sqlite" | "redis" | "postgres";

/** What the replicas share. */
export interface BackingStore {
  /** Where it listens; undefined for one that is a file. */
  readonly server: ProxyTarget | undefined;
  /** The `store` of a configuration that reaches it at this address. */
  urlAt(address: ProxyTarget | undefined): string;
  /** Opens it as a replica does, without any fault between. */
  open(): Promise<TaskStore>;
  /** SIGKILL, and up again after `awayMs`. */
  restart(awayMs: number): Promise<void>;
  close(): Promise<void>;
}

/** `folder`: of the run. */
export const openBackingStore = (kind: StoreKind, folder: string): Promise<BackingStore> => {
  if (kind === "redis") return redisServer();
  return kind === "postgres" ? postgresServer() : sqliteFile(folder);
};

/** One file, which all replicas open. */
const sqliteFile = async (folder: string): Promise<BackingStore> => {
  const path = join(folder, "tasks.db");
  return {
    server: undefined,
    urlAt: () => `sqlite:${path}`,
    open: () => sqliteStore({ path }),
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
    restart: async (awayMs) => {
      await server.kill();
      await pause(awayMs);
      await server.restart();
    },
    close: server.stop,
  };
};

const postgresServer = async (): Promise<BackingStore> => {
  const engine = await findPostgres();
  if (engine.kind === "url") throw new Error("DATABASE_URL is set, and that server is not ours to kill: unset it");
  if (engine.kind === "missing") throw new Error(engine.reason);
  const server = await startPostgres({ programs: engine.folder, durable: true });
  return {
    server,
    urlAt: (address = server) => {
      const url = new URL(server.url);
      url.host = `${address.host}:${address.port}`;
      return url.href;
    },
    open: () => postgresStore({ url: server.url }),
    restart: async (awayMs) => {
      await server.kill();
      await pause(awayMs);
      await server.restart();
    },
    close: server.stop,
  };
};

/** One of our own, which keeps what it has answered for even when it is killed. */
export const startDurableRedis = async (): Promise<RedisServer> => {
  const engine = await findRedis();
  if (engine.kind === "url") throw new Error("REDIS_URL is set, and that server is not ours to kill: unset it");
  if (engine.kind === "missing") throw new Error(engine.reason);
  return startRedis({ program: engine.path, appendOnly: true, flags: ["--appendfsync", "always"] });
};
