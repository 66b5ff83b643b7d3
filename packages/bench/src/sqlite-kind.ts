import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "@taskbridge/store-sqlite";
import type { StoreKind } from "./benched-store.ts";

export const sqliteKind: StoreKind = {
  name: "sqlite",
  createStore,
  start: async () => {
    const folder = await mkdtemp(join(tmpdir(), "taskbridge-bench-"));
    const url = `sqlite:${join(folder, "bench.db")}`;
    return {
      url,
      durability: "write-ahead log, synchronous=FULL",
      open: () => createStore(url, { baseDirectory: folder }),
      usage: async () => {
        const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
        return { diskBytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) };
      },
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};
