import { BridgeError } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** What the store writes. A newer version may have added others, for which this one needs no right. */
const tables = ["tasks", "wakes", "unique_keys", "payloads", "payload_chunks", "payload_garbage", "cursors", "leases"];
const sequences = ["payload_contents"];

interface Missing {
  readonly role: string;
  readonly rights: readonly string[] | null;
  readonly objects: readonly string[] | null;
}

/** A table that is not there is told by the first call, in its own words. */
const askMissing = `WITH wanted AS (
    SELECT name, to_regclass(format('%I.%I', $1::text, name)) AS object, rights FROM (
      SELECT unnest($2::text[]) AS name, ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] AS rights
      UNION ALL SELECT unnest($3::text[]), ARRAY['USAGE']) AS listed
  ), missing AS (
    SELECT name, wanted_right FROM wanted CROSS JOIN LATERAL unnest(rights) AS wanted_right
      WHERE object IS NOT NULL AND NOT CASE WHEN wanted_right = 'USAGE'
        THEN has_sequence_privilege(object, 'USAGE') ELSE has_table_privilege(object, wanted_right) END
  )
  SELECT current_user AS role, array_agg(DISTINCT wanted_right) AS rights, array_agg(DISTINCT name) AS objects FROM missing`;

/**
 * Rejects with `misconfigured` for a role that may not write what the store writes, naming what to grant: without it, a role that
 * may only read would be noticed by the first call. For tables that are up to date.
 */
export const checkRights = async (connection: Connection, schema: string): Promise<void> => {
  const [found] = await connection.query<Missing>("open", {
    text: askMissing,
    values: [schema, tables, sequences],
    isRead: true,
  });
  const { role, rights, objects } = found ?? {};
  if (role === undefined || rights === null || rights === undefined || !objects) return;
  const names = objects.map((name) => `${schema}.${name}`).join(", ");
  const problem = `refuses the user ${role} the rights ${rights.join(", ")} on ${names}: grant what stands under Permissions in the README of @taskbridge/store-postgres`;
  throw new BridgeError("misconfigured", `${connection.place} ${problem}`, { operation: "open" });
};
