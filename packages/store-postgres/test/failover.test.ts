import { expect, it } from "@jest/globals";
import { asAdapterId, asTaskId, type TaskId } from "@taskbridge/core/store";
import { startFaultProxy } from "@taskbridge/services/fault-proxy";
import { createSample } from "@taskbridge/testkit/store";
import { Client } from "pg";
import { rejectionOf, startServer } from "./database.ts";
import { describeOnOwnServer, recover } from "./own-server.ts";
import { until } from "./until.ts";

describeOnOwnServer("a failover to a synchronous standby", ({ server, keep, open, openSession }) => {
  it("loses nothing that was acknowledged, and is followed by the name that leads there", async () => {
    // What a load balancer, a floating address or DNS is elsewhere.
    const target = { host: server().host, port: server().port };
    const name = keep(await startFaultProxy(target));
    const store = await open({ url: `postgres://postgres@${name.host}:${name.port}/postgres` });
    const notified: (TaskId | undefined)[] = [];
    store.watch?.((taskId) => notified.push(taskId));
    await until("it listens", () => notified.length > 0);

    const standby = await startServer({ standbyOf: server() });
    keep({ close: standby.stop });
    const admin = await openSession();
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await admin.query("SELECT pg_reload_conf()");
    await until("the standby keeps up", async () => {
      const { rows } = await admin.query("SELECT sync_state FROM pg_stat_replication");
      return rows[0]?.sync_state === "sync";
    });
    const lease = await store.lease("sweep", 3_600_000);
    const created = await createSample(store, { wakeAt: 1 }, { uniqueKeys: [{ key: "call" }] });
    const bytes = Buffer.alloc(200_000, 3);
    const revised = await store.revise({ ...created, message: "done" }, 1, { payloads: [{ name: "output", bytes }] });

    expect((await rejectionOf(open({ url: standby.url }))).message).toContain("is a standby");
    await server().kill();
    expect((await rejectionOf(store.read(created.taskId))).code).toBe("unavailable");
    const gapsBefore = notified.length;
    target.port = standby.port;
    // Not yet promoted: it takes no writes, and what it does not know may be there nevertheless.
    const unknown = asTaskId("created a moment ago");
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.revise(revised, 2),
      () => store.read(unknown),
      () => store.list({ operator: true }, { tool: "none" }, undefined, 1),
      () => store.due(1),
      () => store.nextWakeAt(),
      () => store.findByExecution(asAdapterId("none"), { key: created.startKey }),
      () => store.readPayload(unknown, "output", { offset: 0, length: 1 }),
      () => store.values.read("none"),
      () => store.lease("none", 1),
    ];
    for (const read of reads)
      expect([String(read), (await rejectionOf(read())).code]).toEqual([String(read), "unavailable"]);
    const other = new Client({ connectionString: standby.url });
    await other.connect();
    keep({ close: () => other.end() });
    await other.query("SELECT pg_promote()");

    await until("it takes writes", () =>
      createSample(store).then(
        () => true,
        () => false,
      ),
    );
    await recover(store);
    expect(await store.read(created.taskId)).toEqual(revised);
    const payload = await store.readPayload(created.taskId, "output", { offset: 0, length: 1_000_000 });
    expect(bytes.equals(payload?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect((await rejectionOf(createSample(store, {}, { uniqueKeys: [{ key: "call" }] }))).code).toBe("conflict");
    // Leases stay behind, and whoever had one learns of it.
    expect(await lease?.renew()).toBe(false);
    expect(await store.lease("sweep", 1_000)).toBeDefined();
    await until("it says that something may have been missed", () => notified.slice(gapsBefore).includes(undefined));
    await server().restart();
  });
});
