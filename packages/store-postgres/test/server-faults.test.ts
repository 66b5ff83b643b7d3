import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "@jest/globals";
import type { TaskId, TaskRecord } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { rejectionOf } from "./database.ts";
import { describeOnOwnServer, recover, timeoutMs } from "./own-server.ts";
import { until } from "./until.ts";

describeOnOwnServer("faults of the server", ({ server, keep, open, openSession }) => {
  it("a killed server loses nothing that was acknowledged, is `unavailable` while it is away, and is found again", async () => {
    const store = await open();
    const notified: (TaskId | undefined)[] = [];
    store.watch?.((taskId) => notified.push(taskId));
    await until("it listens", () => notified.length > 0);
    const created = await createSample(store, {}, { uniqueKeys: [{ key: "killed" }] });
    const bytes = Buffer.alloc(300_000, 7);
    // Not synced by itself: the revision after it brings it along.
    await store.putPayload(created.taskId, "output", 0, bytes);
    const revised = await store.revise({ ...created, message: "done" }, 1);
    await server().kill();
    for (const call of [store.read(created.taskId), store.revise(revised, 2), createSample(store), store.due(1, 1)])
      expect((await rejectionOf(call)).code).toBe("unavailable");
    const gapsBefore = notified.length;
    await server().restart();
    await recover(store);
    expect(await store.read(created.taskId)).toEqual(revised);
    const payload = await store.readPayload(created.taskId, "output", { offset: 0, length: 1_000_000 });
    expect(bytes.equals(payload?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect((await rejectionOf(createSample(store, {}, { uniqueKeys: [{ key: "killed" }] }))).code).toBe("conflict");
    await until("it says that something may have been missed", () => notified.slice(gapsBefore).includes(undefined));
    const other = await open();
    const later = await createSample(other);
    await until("it hears of changes again", () => notified.includes(later.taskId));
  });

  it("a server that stands still answers nobody falsely, holds nobody for long, and goes on afterwards", async () => {
    const store = await open({ maxConnections: 3 });
    const { taskId } = await createSample(store);
    await server().pause();
    const startedAt = performance.now();
    const calls = Array.from({ length: 12 }, (_, index) => (index % 2 ? store.read(taskId) : createSample(store)));
    const errors = await Promise.all(calls.map(rejectionOf));
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["unavailable"]));
    expect(performance.now() - startedAt).toBeLessThan(5 * timeoutMs);
    server().resume();
    await recover(store);
    expect((await store.read(taskId))?.taskId).toBe(taskId);
  });

  it("a server that stands still does not keep a store from closing, nor its process from ending", async () => {
    const script = fileURLToPath(new URL("fixtures/close-on-message.mjs", import.meta.url));
    const child = spawn(process.execPath, [script, server().url], { stdio: ["pipe", "pipe", "inherit"] });
    keep({ close: async () => child.kill("SIGKILL") });
    const ended = once(child, "close");
    await once(child.stdout, "data");
    await server().pause();
    try {
      child.stdin.write("close\n");
      expect(await ended).toEqual([0, null]);
    } finally {
      server().resume();
    }
  });

  it("a server that waits for no disk is made to for what must not be lost", async () => {
    const admin = await openSession();
    await admin.query("ALTER SYSTEM SET synchronous_commit = off");
    await admin.query("ALTER SYSTEM SET wal_writer_delay = '10s'");
    await admin.query("SELECT pg_reload_conf()");
    const store = await open();
    const light = await createSample(store);
    await store.revise({ ...light, message: "light" }, 1, { durable: false });
    const kept = await Promise.all(Array.from({ length: 10 }, () => createSample(store)));
    const last = await createSample(store);
    const revised = await store.revise({ ...last, message: "kept" }, 1);
    await server().kill();
    await server().restart();
    await recover(store);
    // The log is one: what is synced brings along what came before.
    expect((await store.read(light.taskId))?.revision).toBe(2);
    for (const record of kept) expect(await store.read(record.taskId)).toEqual(record);
    expect(await store.read(last.taskId)).toEqual(revised);
    const again = await openSession();
    await again.query("ALTER SYSTEM RESET ALL");
    await again.query("SELECT pg_reload_conf()");
  });

  it("a server without a connection to spare is `unavailable`, and answers those who have one", async () => {
    const admin = await openSession();
    await admin.query("CREATE ROLE limited LOGIN CONNECTION LIMIT 1");
    await admin.query("GRANT ALL ON DATABASE postgres TO limited");
    const store = await open({ url: server().url.replace("postgres@", "limited@"), schema: "limited" });
    const calls = await Promise.allSettled(Array.from({ length: 3 }, () => createSample(store)));
    expect(calls.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
    const refused = calls.filter((call) => call.status === "rejected").map(({ reason }) => reason);
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused)
      expect([error.code, error.message]).toEqual(["unavailable", expect.stringContaining("53300")]);
    // The server counts a session that has just ended for a moment longer.
    await recover(store);
    expect((await createSample(store)).revision).toBe(1);
  });

  it("sessions that the server ends, the listening one too, are replaced", async () => {
    const [store, other] = [await open(), await open()];
    const notified: (TaskId | undefined)[] = [];
    store.watch?.((taskId) => notified.push(taskId));
    await until("it listens", () => notified.length > 0);
    const created = await createSample(other);
    await until("it hears", () => notified.includes(created.taskId));
    const admin = await openSession();
    const gapsBefore = notified.length;
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    expect(await store.read(created.taskId)).toEqual(created);
    await until("it says so", () => notified.slice(gapsBefore).includes(undefined));
    await other.nextWakeAt();
    const later = await createSample(other);
    await until("it hears again", () => notified.includes(later.taskId));
  });

  it("a lock that somebody holds makes calls `unavailable`, and leaves no session waiting for it", async () => {
    // As behind a pooler, where the sessions have no time limit of their own.
    const store = await open({ directUrl: server().url });
    const created = await createSample(store);
    const [holder, admin] = [await openSession(), await openSession()];
    await holder.query("BEGIN");
    await holder.query("LOCK TABLE taskbridge.tasks IN ACCESS EXCLUSIVE MODE");
    const calls = [store.read(created.taskId), store.revise(created, 1), createSample(store)];
    for (const error of await Promise.all(calls.map(rejectionOf))) expect(error.code).toBe("unavailable");
    await until("nobody waits", async () => {
      const { rows } = await admin.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      return rows.length === 0;
    });
    await holder.query("ROLLBACK");
    expect((await store.revise(created, 1)).revision).toBe(2);
  });

  it("a record that somebody holds holds up its own removal for a while, and none of those asked for beside it", async () => {
    // As behind a pooler, where the sessions have no time limit of their own.
    const store = await open({ directUrl: server().url, operationTimeoutMs: 10_000 });
    const records = await Promise.all(Array.from({ length: 6 }, () => createSample(store)));
    const [held, ...others] = records as [TaskRecord, ...TaskRecord[]];
    const [holder, admin] = [await openSession(), await openSession()];
    await holder.query("BEGIN");
    await holder.query("SELECT 1 FROM taskbridge.tasks WHERE task_id = $1 FOR UPDATE", [held.taskId]);
    const removal = store.remove(held.taskId, 1);
    const refused = rejectionOf(removal);
    expect(await Promise.all(others.map(({ taskId }) => store.remove(taskId, 1)))).toEqual(others.map(() => true));
    expect((await refused).code).toBe("unavailable");
    const { rows } = await admin.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    expect(rows).toEqual([]);
    await holder.query("ROLLBACK");
    expect(await Promise.all([store.remove(held.taskId, 1), store.remove(held.taskId, 1)])).toEqual([true, false]);
  });

  it("a server that is switched to read-only is `unavailable` for writes alone, and until it is switched back", async () => {
    const store = await open();
    const created = await createSample(store);
    const admin = await openSession();
    const setReadOnly = async (value: string): Promise<void> => {
      await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await admin.query("SELECT pg_reload_conf()");
    };
    await setReadOnly("on");
    try {
      await until("it takes no writes", async () => {
        const error = await store.revise(created, 7).catch((reason: unknown) => reason);
        return (error as { code?: string }).code === "unavailable";
      });
      expect(await store.read(created.taskId)).toEqual(created);
      await expect(store.probe?.()).rejects.toMatchObject({ code: "unavailable" });
      expect((await rejectionOf(open())).message).toContain("takes no writes");
    } finally {
      await setReadOnly("off");
    }
    await until("it takes writes", async () => {
      const error = await store.revise(created, 7).catch((reason: unknown) => reason);
      return (error as { code?: string }).code === "conflict";
    });
  });

  it("a client that is frozen in the middle of its writes holds up nobody, and overwrites nothing when it wakes", async () => {
    const store = await open();
    const created = await createSample(store);
    const script = fileURLToPath(new URL("fixtures/revise-for-ever.mjs", import.meta.url));
    const child = spawn(process.execPath, [script, server().url, created.taskId], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    keep({ close: async () => child.kill("SIGKILL") });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let last = "";
    for (let round = 0; round < 5; round++) {
      last = (await lines.next()).value;
      child.kill("SIGSTOP");
      for (;;) {
        const current = await store.read(created.taskId);
        if (current === undefined) throw new Error("the record is gone");
        const revised = store.revise({ ...current, minted: current.minted + 1 }, current.revision);
        // What it had sent before it was frozen may still come first.
        const outcome = await revised.catch((error: { readonly code?: string }) => error.code);
        if (outcome !== "conflict") break;
      }
      child.kill("SIGCONT");
    }
    child.stdin.write("stop\n");
    for (let line = await lines.next(); !line.done; line = await lines.next()) last = line.value;
    const record = await store.read(created.taskId);
    // Each of us counted only what was written.
    expect([record?.minted, (record?.revision ?? 0) - 1]).toEqual([5 + Number(last), 5 + Number(last)]);
  });
});
