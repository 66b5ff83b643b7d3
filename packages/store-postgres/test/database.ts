import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, it } from "@jest/globals";
import { type BridgeError, isBridgeError } from "@taskbridge/core/store";
import {
  findPostgres,
  type PostgresServer,
  type PostgresServerOptions,
  startPostgres,
} from "@taskbridge/services/postgres";
import { Pool } from "pg";

const engine = await findPostgres();

/** `describe`, where there is a PostgreSQL; else the suite is skipped by name, and fails where engines are required. */
export const describeWithPostgres = (name: string, body: () => void, needsOwn = false): void => {
  const why =
    engine.kind === "missing" ? engine.reason : "DATABASE_URL is set, and these tests need a server of their own";
  if (engine.kind === "programs" || (engine.kind === "url" && !needsOwn)) describe(name, body);
  else {
    describe.skip(`${name} (SKIPPED: ${why})`, body);
    if (process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing") {
      it("has a PostgreSQL to test", () => {
        throw new Error(why);
      });
    }
  }
};

/** A server of one's own. To be stopped. */
export const startServer = (options: Partial<PostgresServerOptions> = {}): Promise<PostgresServer> =>
  startPostgres({ programs: engine.kind === "programs" ? engine.folder : "", ...options });

export interface Database {
  /** Of the user's database, or of a server that all test files share. */
  readonly url: () => string;
  /** A name for a schema that nobody else has; dropped after the tests. */
  readonly newSchema: () => string;
  /** Deletes everything from a schema's tables, which costs a tenth of making them anew. */
  readonly empty: (schema: string) => Promise<void>;
  /** Runs statements as the URL's user. */
  readonly run: <Row>(sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
}

/** Where the tests of a file work, from its first test to its last. */
export const useDatabase = (): Database => {
  let admin: Pool | undefined;
  const schemas: string[] = [];
  const url = (): string => (engine.kind === "url" ? engine.url : (process.env.TASKBRIDGE_SHARED_POSTGRES ?? ""));
  const run = async <Row>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> => {
    if (admin === undefined) throw new Error("there is a database only while tests run");
    return (await admin.query(sql, [...values])).rows as Row[];
  };
  beforeAll(async () => {
    if (engine.kind === "missing") return;
    admin = new Pool({ connectionString: url(), max: 3 });
  });
  afterAll(async () => {
    for (const schema of schemas) await run(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await admin?.end();
  });
  return {
    url,
    run,
    empty: async (schema) => {
      const tables = await run<{ readonly name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'schema_versions'",
        [schema],
      );
      for (const { name } of tables) await run(`DELETE FROM "${schema}".${name}`);
    },
    newSchema: () => {
      const schema = `test_${randomBytes(8).toString("hex")}`;
      schemas.push(schema);
      return schema;
    },
  };
};

/** What a promise rejects with; fails when it resolves or when that is no BridgeError. */
export const rejectionOf = async (promise: Promise<unknown>): Promise<BridgeError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isBridgeError(error)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  return error;
};
