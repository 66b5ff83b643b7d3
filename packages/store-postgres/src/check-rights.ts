import { BridgeError } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** What the store writes. A newer version may have added others, for which this one needs no right. */
const tables = [
  "tasks",
  "wakes",
  "unique_keys",
  "payloads",
  "payload_chunks",
  "payload_garbage",
  "stored_values",
  "leases",
];
const sequences = ["payload_contents"];

interface Missing {
  /** Quoted where it must be. */
  readonly role: string;
  readonly rights: readonly string[];
  readonly names: readonly string[];
}

/** One row for the tables, one for the sequences, where a right is missing. A table that is not there is told by the first call. */
const askMissing = `SELECT quote_ident(current_user) AS role, array_agg(DISTINCT wanted) AS rights,
    array_agg(DISTINCT name ORDER BY name) AS names
  FROM (
    SELECT name, false AS is_sequence, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted FROM unnest($2::text[]) AS name
    UNION ALL SELECT name, true, 'USAGE' FROM unnest($3::text[]) AS name
  ) AS listed
  CROSS JOIN LATERAL to_regclass(format('%I.%I', $1::text, name)) AS object
  -- Either right lets a sequence be drawn from, and a table may be granted column by column, but for DELETE.
  WHERE object IS NOT NULL AND NOT CASE
    WHEN is_sequence THEN has_sequence_privilege(object, 'USAGE, UPDATE')
    WHEN wanted = 'DELETE' THEN has_table_privilege(object, wanted)
    ELSE has_any_column_privilege(object, wanted) END
  GROUP BY is_sequence ORDER BY is_sequence`;

/** More are granted at once. */
const maxNamed = 2;

/**
 * Rejects with `misconfigured` for a role that may not write what the store writes, saying what to grant: without it, a role that
 * may only read would be noticed by the first call. For tables that are up to date.
 */
export const checkRights = async (connection: Connection, schema: string): Promise<void> => {
  const missing = await connection.query<Missing>("open", {
    text: askMissing,
    values: [schema, tables, sequences],
    isRead: true,
  });
  const [first] = missing;
  if (first === undefined) return;
  const grants = missing.map(({ role, rights, names }) => {
    const isSequence = rights.includes("USAGE");
    const all = `ALL ${isSequence ? "SEQUENCES" : "TABLES"} IN SCHEMA ${schema}`;
    const kind = isSequence ? "SEQUENCE " : "";
    const named = `${kind}${names.map((name) => `${schema}.${name}`).join(", ")}`;
    return `GRANT ${rights.join(", ")} ON ${names.length > maxNamed ? all : named} TO ${role}`;
  });
  const problem = `does not give the user ${first.role} all rights that the store needs: ${grants.join("; ")}`;
  throw new BridgeError("misconfigured", `${connection.location} ${problem}`, { operation: "open" });
};
