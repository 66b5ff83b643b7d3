import { afterEach, expect, it } from "@jest/globals";
import { removedIdReservedMs, type TaskStore } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { createConnection } from "../src/connection.ts";
import { openPool } from "../src/open-pool.ts";
import { postgresStore } from "../src/postgres-store.ts";
import { createSweeper } from "../src/sweeper.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";
import { until } from "./until.ts";

describeWithPostgres("upkeep", () => {
  const { url, run, newSchema, empty } = useDatabase();
  const schema = newSchema();
  const stores: TaskStore[] = [];
  const open = async (): Promise<TaskStore> => {
    const store = await postgresStore({ url: url(), schema });
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await empty(schema);
  });
  const countOf = async (table: string): Promise<number> => {
    const [row] = await run<{ readonly count: string }>(`SELECT count(*) FROM "${schema}".${table}`);
    return Number(row?.count);
  };
  const sweep = async (): Promise<void> => {
    const connection = createConnection({ ...openPool({ url: url() }, 5000), timeoutMs: 5000 });
    await createSweeper(connection, schema).sweep();
    await connection.close();
  };

  it("leaves no lapsed keys and leases behind, and keeps those that hold", async () => {
    const store = await open();
    await createSample(store, {}, { uniqueKeys: [{ key: "plain" }, { key: "held", until: store.now() + 60_000 }] });
    await store.lease("held", 60_000);
    await run(`INSERT INTO "${schema}".unique_keys SELECT 'lapsed-' || n, 'gone', 1 FROM generate_series(1, 1200) n`);
    await run(`INSERT INTO "${schema}".leases SELECT 'lapsed-' || n, 'gone', 1 FROM generate_series(1, 700) n`);
    await sweep();
    expect([await countOf("unique_keys"), await countOf("leases")]).toEqual([2, 1]);
  });

  it("leaves nothing of a task that is removed, and of a large payload nothing that any verb still sees", async () => {
    const store = await open();
    const payloads = [
      { name: "input" as const, bytes: new Uint8Array(500) },
      { name: "secret:a" as const, bytes: new Uint8Array(200_000) },
      { name: "output" as const, bytes: new Uint8Array(9_000_000) },
    ];
    const { taskId } = await createSample(store, { wakeAt: 5 }, { payloads, uniqueKeys: [{ key: "plain" }] });
    expect(await countOf("payload_chunks")).toBe(3 + 137);
    await store.remove(taskId);
    expect(await store.readPayload(taskId, "output", { offset: 0, length: 1 })).toBeUndefined();
    for (const table of ["tasks", "wakes", "payloads"]) expect(await countOf(table)).toBe(0);
    // Only that there was one, for a while.
    expect(await run(`SELECT key, task_id FROM "${schema}".unique_keys`)).toEqual([
      { key: `removed:${taskId}`, task_id: taskId },
    ]);
    await run(`UPDATE "${schema}".unique_keys SET until = until - ${removedIdReservedMs}`);
    await sweep();
    expect(await countOf("unique_keys")).toBe(0);
    await until(
      "the chunks are gone",
      async () => (await countOf("payload_chunks")) + (await countOf("payload_garbage")) === 0,
    );
  });

  it("clears away what a process that died had left to clear away", async () => {
    const store = await open();
    const { taskId } = await createSample(store);
    await store.putPayload(taskId, "output", 0, new Uint8Array(5_000_000));
    await run(`SELECT "${schema}".drop_payloads('${taskId}', NULL)`);
    expect(await countOf("payload_garbage")).toBe(1);
    await sweep();
    expect([await countOf("payload_chunks"), await countOf("payload_garbage")]).toEqual([0, 0]);
  });

  it("touches no index when a revision changes nothing that is searched for", async () => {
    const store = await open();
    let record = await createSample(store, { wakeAt: store.now() + 1000 });
    const statistics = `SELECT n_tup_upd::integer AS updates, n_tup_hot_upd::integer AS hot
      FROM pg_stat_user_tables WHERE schemaname = '${schema}' AND relname = 'tasks'`;
    await run("SELECT pg_stat_clear_snapshot()");
    for (let round = 0; round < 20; round++)
      record = await store.revise(
        { ...record, message: `round ${round}`, wakeAt: store.now() + round },
        record.revision,
      );
    // Sessions hand in their counts when they end, or now and then.
    await store.close();
    await until("the counts are in", async () => {
      const [row] = await run<{ readonly updates: number }>(statistics);
      return (row?.updates ?? 0) >= 20;
    });
    const [row] = await run<{ readonly updates: number; readonly hot: number }>(statistics);
    expect(row?.hot).toBe(row?.updates);
  });
});
