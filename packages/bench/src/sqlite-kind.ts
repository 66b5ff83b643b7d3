import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "@taskbridge/store-sqlite";
import type { StoreKind } from "./benched-store.ts";
import { writeSqlite } from "./write-sqlite.ts";

export const sqliteKind: StoreKind = {
  name: "sqlite",
  createStore,
  start: async () => {
    const folder = await mkdtemp(join(tmpdir(), "taskbridge-bench-"));
    const path = join(folder, "bench.db");
    const url = `sqlite:${path}`;
    return {
      url,
      durability: "write-ahead log, synchronous=FULL",
      filling: writeSqlite(path),
      atOnce: 10_000,
      open: () => createStore(url, { baseDirectory: folder }),
      usage: async () => {
        const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
        return { diskBytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) };
      },
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};
