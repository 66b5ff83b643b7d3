import { afterEach, expect, it } from "@jest/globals";
import type { TaskId, TaskStore } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { Pool } from "pg";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";
import { until } from "./until.ts";

describeWithPostgres("pools", () => {
  const { url, newSchema } = useDatabase();
  const schema = newSchema();
  const opened: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const thing of opened.splice(0).reverse()) await thing.close();
  });

  it("of one's own are used and stay open", async () => {
    const pool = new Pool({ connectionString: url(), max: 2 });
    opened.push({ close: () => pool.end() });
    const store = await postgresStore({ pool, schema });
    const created = await createSample(store);
    await store.close();
    await store.close();
    await expect(store.read(created.taskId)).rejects.toMatchObject({ code: "unavailable" });
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("that hand each statement another session, as a pooler may, make no difference", async () => {
    const pool = new Pool({ connectionString: url(), max: 5, maxUses: 1 });
    opened.push({ close: () => pool.end() });
    const stores: TaskStore[] = [];
    for (let index = 0; index < 2; index++) {
      const store = await postgresStore({ pool, directUrl: url(), schema });
      stores.push(store);
      opened.push(store);
    }
    const [store, other] = stores as [TaskStore, TaskStore];
    const told: (TaskId | undefined)[] = [];
    other.watch?.((taskId) => told.push(taskId));
    await until("it listens", () => told.length > 0);
    const payloads = [{ name: "input" as const, bytes: new Uint8Array(100_000) }];
    const created = await createSample(store, { wakeAt: 1 }, { payloads, uniqueKeys: [{ key: "k" }] });
    const light = await store.revise({ ...created, message: "light" }, 1, { durable: false });
    expect(await store.due(5, 60_000)).toEqual([light]);
    expect(await other.due(5, 60_000)).toEqual([]);
    const lease = await store.lease("sweep", 60_000);
    expect([await lease?.renew(), await other.lease("sweep", 1)]).toEqual([true, undefined]);
    await until("it hears", () => told.includes(created.taskId));
    await store.remove(created.taskId);
    const sessions = await pool.query(
      "SELECT current_setting('synchronous_commit') AS sync, current_setting('lock_timeout') AS lock",
    );
    expect(sessions.rows).toEqual([{ sync: "on", lock: "0" }]);
  });
});
