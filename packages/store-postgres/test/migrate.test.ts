import { expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { type Connection, createConnection } from "../src/connection.ts";
import { migrate } from "../src/migrate.ts";
import { type Migration, migrations } from "../src/migrations.ts";
import { openPool } from "../src/open-pool.ts";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, rejectionOf, useDatabase } from "./database.ts";

/** What a later version might add: the version before it goes on. */
const expansion: Migration = {
  readableBy: migrations.length,
  sql: 'ALTER TABLE "$schema".tasks ADD COLUMN priority integer NOT NULL DEFAULT 0;',
};
/** And what a still later one might take away. */
const contraction: Migration = {
  readableBy: migrations.length + 2,
  sql: 'ALTER TABLE "$schema".tasks DROP COLUMN expired;',
};

describeWithPostgres("migrations", () => {
  const { url, run, newSchema } = useDatabase();
  const connecting = async (work: (connection: Connection) => Promise<unknown>): Promise<void> => {
    const connection = createConnection({ ...openPool({ url: url() }, 5000), timeoutMs: 5000 });
    try {
      await work(connection);
    } finally {
      await connection.close();
    }
  };
  const historyOf = (schema: string) =>
    run<{ readonly version: number; readonly by: string }>(
      `SELECT version, migrated_by::text AS by FROM "${schema}".schema_versions ORDER BY version`,
    );

  it("are run once by ten who open an empty database at the same moment, and none of them fails", async () => {
    const schema = newSchema();
    const stores = await Promise.all(Array.from({ length: 10 }, () => postgresStore({ url: url(), schema })));
    const [first, last] = [stores[0], stores[9]];
    const created = first && (await createSample(first));
    expect(created && (await last?.read(created.taskId))).toEqual(created);
    for (const store of stores) await store.close();
    const history = await historyOf(schema);
    expect(history.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
    expect(new Set(history.map(({ by }) => by)).size).toBe(1);
  });

  it("that come on top are run once too, while others go on with the version before", async () => {
    const schema = newSchema();
    const older = await postgresStore({ url: url(), schema });
    const before = await createSample(older);
    await Promise.all(
      Array.from({ length: 5 }, () => connecting((one) => migrate(one, schema, [...migrations, expansion]))),
    );
    expect((await historyOf(schema)).length).toBe(migrations.length + 1);
    expect((await older.revise(before, 1)).revision).toBe(2);
    await createSample(
      older,
      {},
      { uniqueKeys: [{ key: "k" }], payloads: [{ name: "input", bytes: Buffer.from("x") }] },
    );
    await older.close();
    // One of the older version that starts only now.
    const late = await postgresStore({ url: url(), schema });
    expect((await late.read(before.taskId))?.revision).toBe(2);
    await late.close();
  });

  it.each([
    [
      "from before hashes of migrations were kept",
      `CREATE TABLE "SCHEMA".schema_versions (version integer PRIMARY KEY, readable_by integer NOT NULL,
        migrated_at timestamptz NOT NULL DEFAULT now(), migrated_by xid8 NOT NULL DEFAULT pg_current_xact_id());
        INSERT INTO "SCHEMA".schema_versions (version, readable_by) VALUES (1, 1), (2, 1);
        CREATE TABLE "SCHEMA".tasks (task_id text)`,
    ],
    [
      "made by other statements for the same version",
      `CREATE TABLE "SCHEMA".schema_versions (version integer PRIMARY KEY, readable_by integer NOT NULL, hash text NOT NULL);
        INSERT INTO "SCHEMA".schema_versions VALUES (1, 1, '${"0".repeat(64)}');
        CREATE TABLE "SCHEMA".tasks (task_id text)`,
    ],
  ])("refuse a schema that was never released, and leave it alone: %s", async (_, preparation) => {
    const schema = newSchema();
    await run(`CREATE SCHEMA "${schema}"; ${preparation.replaceAll("SCHEMA", schema)}`);
    const before = await run("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1", [
      schema,
    ]);
    const error = await rejectionOf(postgresStore({ url: url(), schema }));
    expect([error.code, error.message]).toEqual([
      "misconfigured",
      expect.stringMatching(new RegExp(`schema "${schema}" .* start anew: drop that schema or name another`)),
    ]);
    expect(
      await run("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1", [schema]),
    ).toEqual(before);
    await run(`DROP SCHEMA "${schema}" CASCADE`);
    const store = await postgresStore({ url: url(), schema });
    await createSample(store);
    await store.close();
  });

  it("keep those out who can no longer read the schema, and say so", async () => {
    const schema = newSchema();
    await connecting((one) => migrate(one, schema, [...migrations, expansion, contraction]));
    const error = await rejectionOf(postgresStore({ url: url(), schema }));
    expect([error.code, error.message]).toEqual([
      "misconfigured",
      expect.stringMatching(new RegExp(`schema ${migrations.length + 2} .*${schema}.* newer version`)),
    ]);
  });

  it.each([
    ["tasks", "todo text"],
    ["schema_versions", "version text, applied_at timestamptz"],
  ])("leave another program's tables alone: %s", async (table, columns) => {
    const schema = newSchema();
    await run(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".${table} (${columns})`);
    const error = await rejectionOf(postgresStore({ url: url(), schema }));
    expect([error.code, error.message]).toEqual(["misconfigured", expect.stringContaining("another program")]);
    expect(await run(`SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`)).toEqual([{ tablename: table }]);
  });

  it("that fail are undone, and run by the next who opens", async () => {
    const schema = newSchema();
    const broken: Migration = { readableBy: 1, sql: 'CREATE TABLE "$schema".extra (x int); SELECT 1 / 0;' };
    await connecting(async (one) => {
      expect((await rejectionOf(migrate(one, schema, [...migrations, broken]))).message).toContain("division by zero");
    });
    await (await postgresStore({ url: url(), schema })).close();
    expect((await historyOf(schema)).length).toBe(migrations.length);
  });
});

describeWithPostgres(
  "the rights of the store's role",
  () => {
    const { url, run, newSchema } = useDatabase();
    const asRole = (role: string): string => url().replace("//postgres@", `//${role}@`);

    it("need none to create a schema where it exists, and none to create anything once the tables are there", async () => {
      const schema = newSchema();
      await run(`CREATE ROLE maker LOGIN; CREATE ROLE worker LOGIN; CREATE SCHEMA "${schema}";
        GRANT USAGE, CREATE ON SCHEMA "${schema}" TO maker; GRANT USAGE ON SCHEMA "${schema}" TO worker`);
      await (await postgresStore({ url: asRole("maker"), schema })).close();
      await run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO worker;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA "${schema}" TO worker`);
      const store = await postgresStore({ url: asRole("worker"), schema });
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(100_000) }];
      const created = await createSample(store, { wakeAt: 1 }, { payloads, uniqueKeys: [{ key: "k" }] });
      expect(await store.due(10, 1000)).toEqual([created]);
      expect(await store.values.write("video", "1", undefined)).toBe(true);
      await (await store.lease("sweep", 1000))?.release();
      await store.revise(created, 1, { dropPayloads: "all" });
      await store.remove(created.taskId);
      await store.close();
    });

    it.each([
      ["a schema may not be created", "", "permission denied for database"],
      ["the schema may not be used", `CREATE SCHEMA "SCHEMA"`, "permission denied for schema"],
      [
        "the schema may be used only",
        `CREATE SCHEMA "SCHEMA"; GRANT USAGE ON SCHEMA "SCHEMA" TO nobody_much`,
        "permission denied for schema",
      ],
    ])("that are missing are named: %s", async (_, preparation, part) => {
      const schema = newSchema();
      await run(`DO $$ BEGIN CREATE ROLE nobody_much LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
      await run(preparation.replaceAll('SCHEMA"', `${schema}"`));
      const error = await rejectionOf(postgresStore({ url: asRole("nobody_much"), schema }));
      expect([error.code, error.message]).toEqual(["misconfigured", expect.stringContaining(part)]);
      expect(error.message).toContain("rights");
    });

    it.each([
      ["it may only read", "GRANT SELECT ON ALL TABLES IN SCHEMA SCHEMA TO reader", ""],
      [
        "it may write, but not count",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA TO reader",
        "GRANT USAGE ON SEQUENCE SCHEMA.payload_contents TO reader",
      ],
      [
        "one right on one table is missing",
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA SCHEMA TO reader;
          GRANT USAGE ON ALL SEQUENCES IN SCHEMA SCHEMA TO reader; REVOKE DELETE ON SCHEMA.wakes FROM reader`,
        "GRANT DELETE ON SCHEMA.wakes TO reader",
      ],
    ])("are looked at when tables that exist are opened, not by the first call: %s", async (_, given, grant) => {
      const schema = newSchema();
      const inSchema = (sql: string): string => sql.replaceAll(/SCHEMA(?= TO|\.|;|$)/g, schema);
      await (await postgresStore({ url: url(), schema })).close();
      await run(`DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
        GRANT USAGE ON SCHEMA ${schema} TO reader; ${inSchema(given)}`);
      const error = await rejectionOf(postgresStore({ url: asRole("reader"), schema }));
      expect([error.code, error.message]).toEqual([
        "misconfigured",
        expect.stringContaining("does not give the user reader all rights that the store needs: GRANT "),
      ]);
      const [, reported = ""] = /needs: (.*)$/.exec(error.message) ?? [];
      if (grant !== "") expect(reported).toBe(inSchema(grant));
      else
        expect(reported).toMatch(
          /^GRANT DELETE, INSERT, UPDATE ON ALL TABLES IN SCHEMA \w+ TO reader; GRANT USAGE ON /,
        );
      // It is what was missing, and all of it.
      await run(reported);
      await (await postgresStore({ url: asRole("reader"), schema })).close();
    });
  },
  true,
);
