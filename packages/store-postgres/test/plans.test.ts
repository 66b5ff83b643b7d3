import { expect, it } from "@jest/globals";
import { asAdapterId, asOwnerId, type TaskStore } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { createConnection } from "../src/connection.ts";
import { openPool } from "../src/open-pool.ts";
import { postgresStore } from "../src/postgres-store.ts";
import { createSweeper } from "../src/sweeper.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";
import { until } from "./until.ts";

const size = 20_000;
/** After five calls a session may settle on a plan for any values. */
const rounds = 8;
const tables = ["tasks", "wakes", "unique_keys", "payloads", "payload_chunks"];

describeWithPostgres("plans", () => {
  const { url, run, newSchema } = useDatabase();

  const useAll = async (store: TaskStore): Promise<void> => {
    const limits = { maxOpenForOwner: 1_000_000, maxOpenForTool: 1_000_000 };
    const payloads = [{ name: "input" as const, bytes: new Uint8Array(100_000) }];
    const [owner, adapterId] = [asOwnerId("owner-7"), asAdapterId("rare")];
    for (let round = 0; round < rounds; round++) {
      const uniqueKeys = [{ key: `key-${round}`, heldForMs: 1 }];
      const created = await createSample(store, { owner, adapterId, wakeAt: 1 }, { ...limits, payloads, uniqueKeys });
      await createSample(store, { owner: null, tool: "own" }, limits);
      const revised = await store.revise(created, 1, { payloads, dropPayloads: "all" });
      await store.putPayload(created.taskId, "output", 0, new Uint8Array(70_000));
      await store.putPayload(created.taskId, "output", 70_000, new Uint8Array(10));
      await store.readPayload(created.taskId, "output", { offset: 66_000, length: 100 });
      expect(await store.read(created.taskId)).toEqual(revised);
      await store.findByExecution(adapterId, { key: created.startKey });
      await store.due(5);
      await store.due(5, 1);
      await store.nextWakeAt();
      await store.list({ owner }, {}, undefined, 20);
      const { cursor } = await store.list({ operator: true }, {}, undefined, 2);
      await store.list({ operator: true }, {}, cursor, 20);
      await store.list({ operator: true }, { adapterId, slotHeld: true }, undefined, 20);
      await store.list({ operator: true }, { tool: "own", slotHeld: true }, undefined, 20);
      await store.remove(created.taskId);
    }
    const many = await Promise.all(Array.from({ length: 20 }, () => createSample(store, { tool: "many" })));
    await Promise.all(many.map(({ taskId, revision }) => store.remove(taskId, revision)));
  };

  it("of no verb walk a table or an index, neither those made while it was empty nor those made for a full one", async () => {
    const schema = newSchema();
    // One session, which keeps the plans of its functions.
    const store = await postgresStore({ url: url(), schema, maxConnections: 1 });
    const connection = createConnection({ ...openPool({ url: url(), maxConnections: 1 }, 5000), timeoutMs: 5000 });
    const work = async (): Promise<void> => {
      await useAll(store);
      await createSweeper(connection, schema).sweep();
    };
    await work();
    await run(`INSERT INTO "${schema}".tasks SELECT 'seed-' || n, 1, 'owner-' || n % 500, 'transcode', 'video', n, n, n, false,
      false, '{"taskId":"seed-' || n || '"}' FROM generate_series(1, ${size}) n`);
    await run(`INSERT INTO "${schema}".wakes SELECT 'seed-' || n, n FROM generate_series(1, ${size}) n`);
    await run(
      `INSERT INTO "${schema}".unique_keys SELECT 'seed-' || n, 'seed-' || n FROM generate_series(1, ${size}) n`,
    );
    await run(
      `INSERT INTO "${schema}".payloads SELECT 'seed-' || n, 'input', 1, NULL, 'x' FROM generate_series(1, ${size}) n`,
    );
    await run(`INSERT INTO "${schema}".payload_chunks SELECT -n, 1, 'x' FROM generate_series(1, ${size}) n`);
    const rowsRead = async (): Promise<Map<string, number>> => {
      const rows = await run<{ readonly name: string; readonly read: number }>(
        "SELECT relname AS name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS read FROM pg_stat_user_tables WHERE schemaname = $1",
        [schema],
      );
      return new Map(rows.map(({ name, read }) => [name, read]));
    };
    const before = await rowsRead();
    await work();
    await run(`ANALYZE ${tables.map((table) => `"${schema}".${table}`).join(", ")}`);
    await work();
    // Sessions hand in their counts when they end.
    await store.close();
    await connection.close();
    await until("the counts are in", async () => {
      const [row] = await run<{ readonly inserted: number }>(
        "SELECT n_tup_ins::integer AS inserted FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'tasks'",
        [schema],
      );
      return (row?.inserted ?? 0) >= size + 6 * rounds;
    });
    const after = await rowsRead();
    const read = tables.map((table) => [table, (after.get(table) ?? 0) - (before.get(table) ?? 0)] as const);
    // One walk would read them all.
    expect(read.filter(([, rows]) => rows >= size / 2)).toEqual([]);
  });
});
