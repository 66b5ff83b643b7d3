import { afterEach, expect, it } from "@jest/globals";
import { asAdapterId, asOwnerId, type TaskId } from "@taskbridge/core/store";
import { startFaultProxy } from "@taskbridge/services/fault-proxy";
import { createSample } from "@taskbridge/testkit/store";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";
import { until } from "./until.ts";

const calls = 10;

describeWithPostgres("round trips", () => {
  const { url, newSchema } = useDatabase();
  const opened: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const thing of opened.splice(0).reverse()) await thing.close();
  });

  const openCounted = async () => {
    const { hostname, port } = new URL(url());
    const proxy = await startFaultProxy({ host: hostname, port: Number(port || 5432) });
    opened.push(proxy);
    const counted = new URL(url());
    counted.host = `${proxy.host}:${proxy.port}`;
    const schema = newSchema();
    // So that no connection is made while something is counted.
    const store = await postgresStore({ url: counted.href, schema, maxConnections: 1 });
    opened.push(store);
    const countOf = async (work: () => Promise<unknown>): Promise<number> => {
      const before = proxy.roundTrips;
      for (let call = 0; call < calls; call++) await work();
      return (proxy.roundTrips - before) / calls;
    };
    return { store, schema, countOf };
  };

  it("are one for each read, whatever it reads", async () => {
    const { store, schema, countOf } = await openCounted();
    const payloads = [{ name: "input" as const, bytes: new Uint8Array(200_000) }];
    const other = await postgresStore({ url: url(), schema });
    opened.push(other);
    const notified: (TaskId | undefined)[] = [];
    other.watch?.((taskId) => notified.push(taskId));
    await until("it listens", () => notified.length > 0);
    const { taskId, owner, startKey } = await createSample(store, { wakeAt: 1 }, { payloads });
    await until("others are told, which is counted too", () => notified.includes(taskId));
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.read(taskId),
      () => store.list({ owner }, { tool: "transcode" }, undefined, 10),
      () => store.due(10),
      () => store.due(10, 1),
      () => store.nextWakeAt(),
      () => store.findByExecution(asAdapterId("video"), { key: startKey }),
      () => store.readPayload(taskId, "input", { offset: 50_000, length: 100_000 }),
      () => store.values.read("video"),
    ];
    for (const read of reads) expect([String(read), await countOf(read)]).toEqual([String(read), 1]);
  });

  it("are one for each write, and at most one more to tell others", async () => {
    const { store, countOf } = await openCounted();
    const limits = { maxOpenForOwner: 100, maxOpenForTool: 100, uniqueKeys: [] };
    const payloads = [{ name: "input" as const, bytes: new Uint8Array(200_000) }];
    const owner = asOwnerId("alice");
    let record = await createSample(store, { owner });
    const writes: readonly (() => Promise<unknown>)[] = [
      () => createSample(store, { owner, wakeAt: 5 }, { ...limits, payloads }),
      async () => {
        record = await store.revise({ ...record, wakeAt: 7 }, record.revision, { payloads, dropPayloads: "all" });
      },
      () => store.putPayload(record.taskId, "output", 0, new Uint8Array(300_000)),
      () => store.lease("sweep", 1),
    ];
    for (const write of writes) {
      const count = await countOf(write);
      expect([String(write), count >= 1 && count <= 2]).toEqual([String(write), true]);
    }
  });
});
