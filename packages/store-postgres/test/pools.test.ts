import { afterEach, expect, it } from "@jest/globals";
import type { TaskId, TaskStore } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { Client, Pool } from "pg";
import { postgresStore } from "../src/postgres-store.ts";
import { toNumber } from "../src/to-number.ts";
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

  it("have connections left for others while creates wait for one another", async () => {
    const store = await postgresStore({ url: url(), schema, maxConnections: 4 });
    opened.push(store);
    const { taskId } = await createSample(store);
    const holder = new Client({ connectionString: url() });
    await holder.connect();
    opened.push({ close: () => holder.end() });
    await holder.query("SELECT pg_advisory_lock($1)", [toNumber("tool", schema, "contended")]);
    const creates = Array.from({ length: 12 }, () => createSample(store, { tool: "contended" }, { maxOpenForTool: 7 }));
    const outcomes = Promise.allSettled(creates);
    // More than fit into what the creates leave.
    const reads = await Promise.all(Array.from({ length: 20 }, () => store.read(taskId)));
    expect(reads.map((record) => record?.taskId)).toEqual(Array(20).fill(taskId));
    await holder.query("SELECT pg_advisory_unlock_all()");
    expect((await outcomes).filter(({ status }) => status === "fulfilled")).toHaveLength(7);
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
    const notified: (TaskId | undefined)[] = [];
    const notifiedSelf: (TaskId | undefined)[] = [];
    other.watch?.((taskId) => notified.push(taskId));
    store.watch?.((taskId) => notifiedSelf.push(taskId));
    await until("both listen", () => notified.length > 0 && notifiedSelf.length > 0);
    const payloads = [{ name: "input" as const, bytes: new Uint8Array(100_000) }];
    const created = await createSample(store, { wakeAt: 1 }, { payloads, uniqueKeys: [{ key: "k" }] });
    const light = await store.revise({ ...created, message: "light" }, 1, { durable: false });
    expect(await store.due(5, 60_000)).toEqual([light]);
    expect(await other.due(5, 60_000)).toEqual([]);
    const lease = await store.lease("sweep", 60_000);
    expect([await lease?.renew(), await other.lease("sweep", 1)]).toEqual([true, undefined]);
    await until("it hears", () => notified.includes(created.taskId));
    const foreign = await createSample(other);
    await until("the other way too", () => notifiedSelf.includes(foreign.taskId));
    // Its own change came before.
    expect(notifiedSelf).not.toContain(created.taskId);
    await store.remove(created.taskId);
    const sessions = await pool.query(
      "SELECT current_setting('synchronous_commit') AS sync, current_setting('lock_timeout') AS lock",
    );
    expect(sessions.rows).toEqual([{ sync: "on", lock: "0" }]);
  });
});
