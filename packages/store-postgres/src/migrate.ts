import { createHash } from "node:crypto";
import { BridgeError } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";
import type { Migration } from "./migrations.ts";
import { toNumber } from "./to-number.ts";

/** Others may be migrating, or waiting with us for one who is. */
const migrateMs = 120_000;

/** A migration that the schema has had. */
interface SchemaVersion {
  readonly version: number;
  readonly readableBy: number;
  /** Hash of the migration's statements. Null: of a time when none was kept. */
  readonly hash: string | null;
}

/**
 * Brings the schema up to date, in one transaction of one statement. Any number of processes may do so at once: one
 * migrates, and the others find that nothing is left to do. Where that is so from the start it is one read, for which no
 * right to create anything is needed. Rejects with `misconfigured` for a schema that is too new, that was made by other
 * migrations than these, or that is somebody else's.
 */
export const migrate = async (
  connection: Connection,
  schema: string,
  migrations: readonly Migration[],
): Promise<void> => {
  const found = await readVersions(connection, schema);
  assertReadable(connection, schema, found, migrations);
  if (found.length >= migrations.length) return;
  await connection.query("migrate", { text: toStatement(schema, migrations), timeoutMs: migrateMs });
  assertReadable(connection, schema, await readVersions(connection, schema), migrations);
};

/** In their order. */
const readVersions = async (connection: Connection, schema: string): Promise<readonly SchemaVersion[]> => {
  const [table] = await connection.query<{ readonly exists: boolean }>("open", {
    text: "SELECT to_regclass($1) IS NOT NULL AS exists",
    values: [`"${schema}".schema_versions`],
    isRead: true,
  });
  if (table?.exists !== true) return [];
  return connection.query<SchemaVersion>("open", {
    // As JSON, for a schema of an earlier time has no such column.
    text: `SELECT version, readable_by AS "readableBy", to_jsonb(kept) ->> 'hash' AS hash
      FROM "${schema}".schema_versions AS kept ORDER BY version`,
    isRead: true,
  });
};

const assertReadable = (
  { location }: Connection,
  schema: string,
  found: readonly SchemaVersion[],
  migrations: readonly Migration[],
): void => {
  const refuse = (problem: string): BridgeError =>
    new BridgeError("misconfigured", `${location} ${problem}`, { operation: "open" });
  const known = migrations.length;
  if (found.some(({ hash }, index) => index < known && hash !== hashOf(migrations[index])))
    throw refuse(
      `holds in its schema "${schema}" a store that an unreleased version made, which this one cannot read; start anew: drop that schema or name another in the option schema`,
    );
  const last = found.at(-1);
  if (last !== undefined && last.version > known && last.readableBy > known)
    throw refuse(
      `was brought to schema ${last.version} of "${schema}" by a newer version, which ${known} and older cannot read; update this one`,
    );
};

const hashOf = (migration: Migration | undefined): string =>
  createHash("sha256")
    .update(migration?.sql ?? "")
    .digest("hex");

/** A block that looks again under a lock, for somebody else may have been quicker. */
const toStatement = (schema: string, migrations: readonly Migration[]): string => {
  const quoted = `"${schema}"`;
  const steps = migrations.map(
    (migration, index) => `
    IF v_version < ${index + 1} THEN
      EXECUTE $statements$${migration.sql.replaceAll('"$schema"', () => quoted)}$statements$;
      INSERT INTO ${quoted}.schema_versions (version, readable_by, hash)
        VALUES (${index + 1}, ${migration.readableBy}, '${hashOf(migration)}');
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
        hash text NOT NULL,
        migrated_at timestamptz NOT NULL DEFAULT now(),
        migrated_by xid8 NOT NULL DEFAULT pg_current_xact_id()
      );
    END IF;
    SELECT coalesce(max(version), 0) INTO v_version FROM ${quoted}.schema_versions;
    ${steps.join("")}
  END $migrate$`;
};
