import { expect, it } from "@jest/globals";
import { createSample, sampleRecord } from "@taskbridge/testkit/store";
import { type Connection, createConnection } from "../src/connection.ts";
import { migrate } from "../src/migrate.ts";
import { type Migration, migrations } from "../src/migrations.ts";
import { openPool } from "../src/open-pool.ts";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, rejectionOf, useDatabase } from "./database.ts";

/** What a later version might add: the version before it goes on. */
const expansion: Migration = {
  readableBy: migrations.length,
  sql: (schema) => `ALTER TABLE ${schema}.tasks ADD COLUMN priority integer NOT NULL DEFAULT 0;`,
};
/** And what a still later one might take away. */
const contraction: Migration = {
  readableBy: migrations.length + 2,
  sql: (schema) => `ALTER TABLE ${schema}.tasks DROP COLUMN expired;`,
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

  it("to schema 2 leave version 1 at work beside it, which sees nothing of the IDs that are kept", async () => {
    const schema = newSchema();
    await connecting((one) => migrate(one, schema, migrations.slice(0, 1)));
    const record = sampleRecord();
    const { taskId } = record;
    const createAsBefore = async (): Promise<string | undefined> => {
      const [row] = await run<{ readonly outcome: string }>(
        `SELECT outcome FROM "${schema}".create_task('{1}', $1, NULL, 'transcode', 'video', 1, NULL, 1, true, false, 1, $2,
          '{}', '{}', '{}', NULL, NULL, '{}', '{}', '', 1e15)`,
        [taskId, JSON.stringify({ ...record, revision: 1 })],
      );
      return row?.outcome;
    };
    const removeAsBefore = (): Promise<unknown> => run(`SELECT "${schema}".remove_task($1)`, [taskId]);
    expect(await createAsBefore()).toBe("done");
    const store = await postgresStore({ url: url(), schema });
    expect((await rejectionOf(createSample(store, record))).code).toBe("conflict");
    await removeAsBefore();
    await createSample(store, record);
    for (const _life of [2, 3]) {
      await store.remove(taskId);
      expect((await rejectionOf(createSample(store, record))).code).toBe("conflict");
      expect(await createAsBefore()).toBe("done");
      expect(await store.read(taskId)).toEqual({ ...record, revision: 1 });
    }
    await removeAsBefore();
    expect((await rejectionOf(createSample(store, record))).code).toBe("conflict");
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
    const broken: Migration = { readableBy: 1, sql: (name) => `CREATE TABLE ${name}.extra (x int); SELECT 1 / 0;` };
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
      expect(await store.saveCursor("video", "1", undefined)).toBe(true);
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
  },
  true,
);
