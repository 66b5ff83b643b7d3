import type { StoreDescription } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

interface Facts {
  readonly version: string;
  readonly database: string;
  readonly synchronousCommit: string;
  readonly standbys: string;
  readonly fsync: string;
}

const askFacts = `SELECT current_setting('server_version') AS version, current_database() AS database,
  current_setting('synchronous_commit') AS "synchronousCommit",
  current_setting('synchronous_standby_names') AS standbys, current_setting('fsync') AS fsync`;

/** @param address Host and port, as they are configured. */
export const describeServer = async (
  connection: Connection,
  address: string,
  schema: string,
): Promise<StoreDescription> => {
  const [facts] = await connection.query<Facts>("describe", { text: askFacts, isRead: true });
  if (facts === undefined) return { kind: "PostgreSQL", location: address, namespace: `schema ${schema}` };
  const { version, database, synchronousCommit, standbys, fsync } = facts;
  const settings = [
    `synchronous_commit = ${synchronousCommit}${synchronousCommit === "off" ? " (on for each write that must last)" : ""}`,
    ...(standbys === "" ? [] : [`synchronous_standby_names = ${standbys}`]),
    `fsync = ${fsync}`,
  ];
  return {
    // Debian's says more behind the number.
    kind: `PostgreSQL ${version.split(" ")[0]}`,
    location: address,
    database,
    namespace: `schema ${schema}`,
    durability: settings.join(", "),
    ...(fsync === "off" ? { warning: "fsync is off: a crash of its machine may damage the whole database" } : {}),
  };
};
