import { ensurePostgres, startPostgres } from "@taskbridge/services/postgres";
import { createStore } from "@taskbridge/store-postgres";
import { Client } from "pg";
import type { StoreKind, Usage } from "./benched-store.ts";
import { writePostgres } from "./write-postgres.ts";

/** Enough that an index of a million records stays in memory, and little beside that of a real server. */
const settings = { shared_buffers: "512MB", max_wal_size: "4GB" };

export const postgresKind: StoreKind = {
  name: "postgres",
  createStore,
  start: async () => {
    const server = await startPostgres({ programs: await findPrograms(), durable: true, settings });
    const client = new Client(server.url);
    // It may be gone before us; whatever needs it says so.
    client.on("error", () => {});
    try {
      await client.connect();
      // Of this connection only: what is measured waits for the disk, what is filled in does not.
      await client.query("SET synchronous_commit = off");
    } catch (error) {
      await server.stop();
      throw error;
    }
    return {
      url: server.url,
      durability: `fsync on, synchronous_commit on, shared_buffers ${settings.shared_buffers}`,
      open: () => createStore(server.url, { baseDirectory: process.cwd() }),
      filling: writePostgres(client),
      atOnce: 2_000,
      usage: () => usageOf(client),
      close: async () => {
        await client.end();
        await server.stop();
      },
    };
  },
};

const findPrograms = async (): Promise<string> => {
  const engine = await ensurePostgres();
  if (engine.kind === "programs") return engine.folder;
  const reason =
    engine.kind === "missing"
      ? engine.reason
      : "DATABASE_URL names a database that is not ours to fill: unset it, or name a program by TASKBRIDGE_POSTGRES";
  throw new Error(`no PostgreSQL to measure: ${reason}`);
};

/** With the statistics that a server in use has. */
const usageOf = async (client: Client): Promise<Usage> => {
  await client.query("VACUUM ANALYZE");
  await client.query("CHECKPOINT");
  const { rows } = await client.query<{ size: string }>("SELECT pg_database_size(current_database()) AS size");
  return { diskBytes: Number(rows[0]?.size) };
};
