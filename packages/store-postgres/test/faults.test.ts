import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import type { TaskId, TaskStore } from "@taskbridge/core/store";
import { type FaultProxy, startFaultProxy } from "@taskbridge/services/fault-proxy";
import type { PostgresServer } from "@taskbridge/services/postgres";
import { createSample, sampleRecord } from "@taskbridge/testkit/store";
import { Client, Pool } from "pg";
import { postgresStore } from "../src/postgres-store.ts";
import type { PostgresStoreOptions } from "../src/store-options.ts";
import { describeWithPostgres, rejectionOf, startServer } from "./database.ts";
import { until } from "./until.ts";

/** Short enough to wait for, long enough that a busy machine does not use it up. */
const timeoutMs = 1_000;
const patienceMs = 15_000;

/** A way to the server on which what is open can be made to lead nowhere: nothing passes any more, and nothing is closed. */
const startRelay = async (to: number): Promise<{ port: number; swallow(): void; close(): Promise<void> }> => {
  const pairs: (readonly [Socket, Socket])[] = [];
  const relay = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: to });
    pairs.push([client, upstream]);
    for (const [one, another] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.pipe(another);
      one.on("error", () => another.destroy());
    }
  });
  relay.listen({ host: "127.0.0.1", port: 0 });
  await once(relay, "listening");
  return {
    port: (relay.address() as AddressInfo).port,
    swallow: () => {
      for (const socket of pairs.flat()) socket.unpipe().resume();
    },
    close: async () => {
      for (const socket of pairs.flat()) socket.destroy();
      relay.close();
      await once(relay, "close");
    },
  };
};

const ownServer = true;
describeWithPostgres(
  "faults",
  () => {
    let server: PostgresServer;
    const opened: { close(): Promise<unknown> }[] = [];
    const keep = <Thing extends { close(): Promise<unknown> }>(thing: Thing): Thing => {
      opened.push(thing);
      return thing;
    };
    const open = async (options: Partial<PostgresStoreOptions> = {}): Promise<TaskStore> =>
      keep(await postgresStore({ url: server.url, operationTimeoutMs: timeoutMs, ...options }));
    const openProxy = async (): Promise<{ proxy: FaultProxy; url: string }> => {
      const proxy = keep(await startFaultProxy(server));
      return { proxy, url: `postgres://postgres@${proxy.host}:${proxy.port}/postgres` };
    };
    const openSession = async (): Promise<Client> => {
      const client = new Client({ connectionString: server.url });
      client.on("error", () => undefined);
      await client.connect();
      keep({ close: () => client.end() });
      return client;
    };
    const recover = (store: TaskStore): Promise<void> =>
      until(
        "the store answers again",
        () =>
          store.nextWakeAt().then(
            () => true,
            () => false,
          ),
        patienceMs,
      );

    beforeAll(async () => {
      server = await startServer({ hba: ["host all secretive 127.0.0.1/32 scram-sha-256"] });
    });
    afterEach(async () => {
      for (const thing of opened.splice(0).reverse()) await thing.close();
    });
    afterAll(() => server.stop());

    it("a killed server loses nothing that was acknowledged, is `unavailable` while it is away, and is found again", async () => {
      const store = await open();
      const told: (TaskId | undefined)[] = [];
      store.watch?.((taskId) => told.push(taskId));
      await until("it listens", () => told.length > 0);
      const created = await createSample(store, {}, { uniqueKeys: [{ key: "killed" }] });
      const bytes = Buffer.alloc(300_000, 7);
      // Not synced by itself: the revision after it brings it along.
      await store.putPayload(created.taskId, "output", 0, bytes);
      const revised = await store.revise({ ...created, message: "done" }, 1);
      await server.kill();
      for (const call of [store.read(created.taskId), store.revise(revised, 2), createSample(store), store.due(1, 1)])
        expect((await rejectionOf(call)).code).toBe("unavailable");
      const gapsBefore = told.length;
      await server.restart();
      await recover(store);
      expect(await store.read(created.taskId)).toEqual(revised);
      const payload = await store.readPayload(created.taskId, "output", { offset: 0, length: 1_000_000 });
      expect(bytes.equals(payload?.bytes ?? Buffer.alloc(0))).toBe(true);
      expect((await rejectionOf(createSample(store, {}, { uniqueKeys: [{ key: "killed" }] }))).code).toBe("conflict");
      await until("it says that something may have been missed", () => told.slice(gapsBefore).includes(undefined));
      const other = await open();
      const later = await createSample(other);
      await until("it hears of changes again", () => told.includes(later.taskId));
    });

    it("a server that stands still answers nobody falsely, holds nobody for long, and goes on afterwards", async () => {
      const store = await open({ maxConnections: 3 });
      const { taskId } = await createSample(store);
      await server.pause();
      const startedAt = performance.now();
      const calls = Array.from({ length: 12 }, (_, index) => (index % 2 ? store.read(taskId) : createSample(store)));
      const errors = await Promise.all(calls.map(rejectionOf));
      expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["unavailable"]));
      expect(performance.now() - startedAt).toBeLessThan(5 * timeoutMs);
      server.resume();
      await recover(store);
      expect((await store.read(taskId))?.taskId).toBe(taskId);
    });

    it("an answer that is lost leaves a create `unavailable`, and its repetition finds it", async () => {
      const { proxy, url } = await openProxy();
      const store = await open({ url });
      const record = sampleRecord();
      proxy.set({ losesAnswer: (request) => request.includes(record.taskId) });
      expect((await rejectionOf(createSample(store, record))).code).toBe("unavailable");
      expect(proxy.lostAnswers).toBe(1);
      proxy.set({});
      const repeated = await rejectionOf(createSample(store, record, { uniqueKeys: [{ key: "late" }] }));
      expect([repeated.code, repeated.data]).toEqual(["conflict", { taskId: record.taskId }]);
      expect((await store.read(record.taskId))?.revision).toBe(1);
    });

    it("connections that are cut under it do not concern a read", async () => {
      const { proxy, url } = await openProxy();
      const store = await open({ url });
      const { taskId } = await createSample(store);
      const readMany = () => Promise.all(Array.from({ length: 8 }, () => store.read(taskId)));
      await readMany();
      proxy.cut();
      expect((await readMany()).map((record) => record?.taskId)).toEqual(Array(8).fill(taskId));
      proxy.set({ losesAnswer: () => proxy.lostAnswers === 0 });
      expect((await store.read(taskId))?.taskId).toBe(taskId);
      expect(proxy.lostAnswers).toBe(1);
    });

    it("a slow way is used as long as it is quick enough, and given up where it is not", async () => {
      const { proxy, url } = await openProxy();
      const store = await open({ url });
      proxy.set({ delayMs: 50 });
      const { taskId } = await createSample(store);
      expect((await store.read(taskId))?.taskId).toBe(taskId);
      proxy.set({ delayMs: 3 * timeoutMs });
      expect((await rejectionOf(store.read(taskId))).code).toBe("unavailable");
      proxy.set({});
      await recover(store);
    });

    it("a way that leads nowhere is noticed by who listens, who finds another and says so", async () => {
      const relay = keep(await startRelay(server.port));
      const direct = `postgres://postgres@127.0.0.1:${relay.port}/postgres`;
      const [store, other] = [await open({ directUrl: direct }), await open()];
      const told: (TaskId | undefined)[] = [];
      store.watch?.((taskId) => told.push(taskId));
      await until("it listens", () => told.length > 0);
      relay.swallow();
      const missed = await createSample(other);
      await until("it listens again", () => told.length > 1);
      expect(told).toEqual([undefined, undefined]);
      const heard = await createSample(other);
      await until("it hears", () => told.includes(heard.taskId));
      expect(told).not.toContain(missed.taskId);
    });

    it("sessions that the server ends, the listening one too, are replaced", async () => {
      const [store, other] = [await open(), await open()];
      const told: (TaskId | undefined)[] = [];
      store.watch?.((taskId) => told.push(taskId));
      await until("it listens", () => told.length > 0);
      const created = await createSample(other);
      await until("it hears", () => told.includes(created.taskId));
      const admin = await openSession();
      const gapsBefore = told.length;
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
      expect(await store.read(created.taskId)).toEqual(created);
      await until("it says so", () => told.slice(gapsBefore).includes(undefined));
      await other.nextWakeAt();
      const later = await createSample(other);
      await until("it hears again", () => told.includes(later.taskId));
    });

    it("a lock that somebody holds makes calls `unavailable`, and leaves no session waiting for it", async () => {
      const store = await open();
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
      const child = spawn(process.execPath, [script, server.url, created.taskId], {
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

    it("a wrong password, a missing database and a server that is not there are told apart, without the password", async () => {
      const admin = await openSession();
      await admin.query("CREATE ROLE secretive LOGIN PASSWORD 'right'");
      const at = `127.0.0.1:${server.port}`;
      const cases: readonly (readonly [url: string, code: string, part: string])[] = [
        [`postgres://secretive:wr0ng-p4ss@${at}/postgres`, "misconfigured", "28P01"],
        [`postgres://postgres:wr0ng-p4ss@${at}/missing`, "misconfigured", "3D000"],
        ["postgres://postgres:wr0ng-p4ss@127.0.0.1:1/postgres", "unavailable", "ECONNREFUSED"],
        ["postgres://postgres:wr0ng-p4ss@127.0.0.1:99999/postgres", "misconfigured", "no URL"],
        [`postgres://postgres:wr0ng-p4ss@${at}/postgres?sslmode=verify-full`, "misconfigured", "TLS"],
      ];
      for (const [url, code, part] of cases) {
        const error = await rejectionOf(open({ url }));
        expect([error.code, error.message]).toEqual([code, expect.stringContaining(part)]);
        for (let told: unknown = error; told instanceof Error; told = told.cause)
          expect(`${told.message} ${told.stack} ${JSON.stringify(told)}`).not.toContain("wr0ng-p4ss");
      }
      await admin.query("CREATE SCHEMA secretive AUTHORIZATION secretive");
      const { host, port } = server;
      const pool = new Pool({ host, port, user: "secretive", password: "right", database: "postgres" });
      keep({ close: () => pool.end() });
      const store = keep(await postgresStore({ pool, schema: "secretive" }));
      const told: unknown[] = [];
      store.watch?.((taskId) => told.push(taskId));
      await until("it listens with the password", () => told.length > 0);
    });
  },
  ownServer,
);
