import { BridgeError } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";
import type { Migration } from "./migrations.ts";
import { toNumber } from "./to-number.ts";

/** Others may be migrating, or waiting with us for one who is. */
const migrateMs = 120_000;

interface SchemaVersion {
  readonly version: number;
  readonly readableBy: number;
}

/**
 * Brings the schema up to date, in one transaction of one statement. Any number of processes may do so at once: one
 * migrates, and the others find that nothing is left to do. Where that is so from the start it is one read, for which no
 * right to create anything is needed. Rejects with `misconfigured` for a schema that is too new or somebody else's.
 */
export const migrate = async (
  connection: Connection,
  schema: string,
  migrations: readonly Migration[],
): Promise<void> => {
  const found = await readVersion(connection, schema);
  assertReadable(connection, schema, found, migrations);
  if (found.version >= migrations.length) return;
  await connection.query("migrate", { text: toStatement(schema, migrations), timeoutMs: migrateMs });
  assertReadable(connection, schema, await readVersion(connection, schema), migrations);
};

const readVersion = async (connection: Connection, schema: string): Promise<SchemaVersion> => {
  const [table] = await connection.query<{ readonly exists: boolean }>("open", {
    text: "SELECT to_regclass($1) IS NOT NULL AS exists",
    values: [`"${schema}".schema_versions`],
    isRead: true,
  });
  if (table?.exists !== true) return { version: 0, readableBy: 0 };
  const [row] = await connection.query<SchemaVersion>("open", {
    text: `SELECT version, readable_by AS "readableBy" FROM "${schema}".schema_versions ORDER BY version DESC LIMIT 1`,
    isRead: true,
  });
  return row ?? { version: 0, readableBy: 0 };
};

const assertReadable = (
  { place }: Connection,
  schema: string,
  { version, readableBy }: SchemaVersion,
  { length: known }: readonly Migration[],
): void => {
  if (version <= known || readableBy <= known) return;
  const message = `${place} was brought to schema ${version} of "${schema}" by a newer version, which ${known} and older cannot read; update this one`;
  throw new BridgeError("misconfigured", message, { operation: "open" });
};

/** A block that looks again under a lock, for somebody else may have been quicker. */
const toStatement = (schema: string, migrations: readonly Migration[]): string => {
  const quoted = `"${schema}"`;
  const steps = migrations.map(
    ({ sql, readableBy }, index) => `
    IF v_version < ${index + 1} THEN
      EXECUTE $statements$${sql(quoted)}$statements$;
      INSERT INTO ${quoted}.schema_versions (version, readable_by) VALUES (${index + 1}, ${readableBy});
    END IF;`,
  );
  // The first statement keeps the time limit of the session, if any, from the second; both are one transaction.
  return `SELECT set_config('statement_timeout', '0', true); DO $migrate$
  DECLARE
    v_version integer;
  BEGIN
    PERFORM pg_advisory_xact_lock(${toNumber("migrate", schema)});
    IF to_regnamespace('${quoted}') IS NULL THEN
      CREATE SCHEMA ${quoted};
    END IF;
    IF to_regclass('${quoted}.schema_versions') IS NULL THEN
      CREATE TABLE ${quoted}.schema_versions (
        version integer PRIMARY KEY,
        readable_by integer NOT NULL,
        migrated_at timestamptz NOT NULL DEFAULT now(),
        migrated_by xid8 NOT NULL DEFAULT pg_current_xact_id()
      );
    END IF;
    SELECT coalesce(max(version), 0) INTO v_version FROM ${quoted}.schema_versions;
    ${steps.join("")}
  END $migrate$`;
};
