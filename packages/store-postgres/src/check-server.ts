import { BridgeError } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

interface Facts {
  readonly version: number;
  readonly encoding: string;
  readonly isolation: string;
  readonly arrayNulls: string;
  readonly floatDigits: number;
  readonly readOnly: string;
  readonly inRecovery: boolean;
  readonly processId: number;
}

const askFacts = `SELECT current_setting('server_version_num')::integer AS version,
  current_setting('server_encoding') AS encoding, current_setting('transaction_isolation') AS isolation,
  current_setting('array_nulls') AS "arrayNulls", current_setting('extra_float_digits')::integer AS "floatDigits",
  current_setting('transaction_read_only') AS "readOnly", pg_is_in_recovery() AS "inRecovery",
  pg_backend_pid() AS "processId"`;

const oldestVersion = 130_000;

/**
 * Rejects with `misconfigured` for a server, a database or a pooler that the store cannot work with, and with `unavailable` for a
 * server that takes no writes at present.
 * @param hasDirectUrl Notices have another way than through a pooler.
 */
export const checkServer = async (connection: Connection, hasDirectUrl: boolean): Promise<void> => {
  let processId: number | undefined;
  const [facts] = await connection.query<Facts>("open", {
    text: askFacts,
    isRead: true,
    onSession: (server) => {
      processId = server;
    },
  });
  if (facts === undefined) return;
  const refuse = (code: "misconfigured" | "unavailable", problem: string): BridgeError =>
    new BridgeError(code, `${connection.location} ${problem}`, { operation: "open" });
  if (facts.version < oldestVersion)
    throw refuse("misconfigured", `is PostgreSQL ${Math.floor(facts.version / 10_000)}; 13 or newer is needed`);
  if (facts.encoding !== "UTF8")
    throw refuse("misconfigured", `keeps text as ${facts.encoding}; create a database with the encoding UTF8`);
  // Limits are counted after waiting for a lock, and must see what was committed meanwhile.
  if (facts.isolation !== "read committed")
    throw refuse(
      "misconfigured",
      `has default_transaction_isolation = ${facts.isolation}; set it to read committed for the store's role`,
    );
  // Keys without an end are nulls in a list, and instants are numbers of thirteen digits.
  if (facts.arrayNulls !== "on")
    throw refuse("misconfigured", "has array_nulls = off; set it to on for the store's role");
  if (facts.floatDigits < 0)
    throw refuse(
      "misconfigured",
      `has extra_float_digits = ${facts.floatDigits}; set it to 0 or more for the store's role`,
    );
  if (facts.inRecovery) throw refuse("unavailable", "is a standby, which takes no writes");
  if (facts.readOnly === "on") throw refuse("unavailable", "takes no writes (default_transaction_read_only is on)");
  if (!hasDirectUrl && processId !== undefined && processId !== facts.processId)
    throw refuse(
      "misconfigured",
      "is reached through a pooler, which does not pass on notices of changes; name the server itself in the option directUrl",
    );
};
