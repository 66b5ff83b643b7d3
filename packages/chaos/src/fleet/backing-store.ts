import { join } from "node:path";
import type { TaskStore } from "@taskbridge/core/store";
import type { ProxyTarget } from "@taskbridge/services/fault-proxy";
import { createStore } from "@taskbridge/store-sqlite";

export type StoreKind = "sqlite" | "redis" | "postgres";

/** What the replicas share. */
export interface BackingStore {
  readonly kind: StoreKind;
  /** Where it listens; undefined for one that is a file. */
  readonly server: ProxyTarget | undefined;
  /** The `store` of a configuration that reaches it at another address. */
  urlBy(address: ProxyTarget | undefined): string;
  /** Opens it as a replica does, without any fault between. */
  open(): Promise<TaskStore>;
  /** SIGKILL, and up again after `awayMs`. */
  restart(awayMs: number): Promise<void>;
  close(): Promise<void>;
}

/** One file, which all replicas open. */
export const sqliteFile = (folder: string): BackingStore => {
  const url = `sqlite:${join(folder, "tasks.db")}`;
  return {
    kind: "sqlite",
    server: undefined,
    urlBy: () => url,
    open: () => createStore(url, { baseDirectory: folder }),
    restart: async () => {},
    close: async () => {},
  };
};
