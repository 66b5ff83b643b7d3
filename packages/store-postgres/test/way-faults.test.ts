import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it } from "@jest/globals";
import type { TaskId } from "@taskbridge/core/store";
import { type FaultProxy, startFaultProxy } from "@taskbridge/services/fault-proxy";
import { createSample, sampleRecord } from "@taskbridge/testkit/store";
import { Pool } from "pg";
import { postgresStore } from "../src/postgres-store.ts";
import { rejectionOf } from "./database.ts";
import { describeOnOwnServer, recover, timeoutMs } from "./own-server.ts";
import { until } from "./until.ts";

interface Relay {
  readonly port: number;
  /** What is open leads nowhere from now on: nothing passes any more, and nothing is closed. */
  swallow(): void;
  /** Keeps what the one client sends; what it returns passes that on, whatever has become of the client, and resolves once it is answered. */
  keepBack(): () => Promise<void>;
  close(): Promise<void>;
}

const startRelay = async (to: number): Promise<Relay> => {
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
    keepBack: () => {
      const [client, upstream] = pairs.at(-1) ?? [];
      if (client === undefined || upstream === undefined) throw new Error("there is no client");
      const kept: Buffer[] = [];
      client
        .unpipe()
        .on("data", (chunk) => kept.push(chunk))
        .resume();
      client.removeAllListeners("error").on("error", () => undefined);
      upstream.unpipe();
      return async () => {
        const answered = once(upstream, "data");
        upstream.write(Buffer.concat(kept));
        upstream.resume();
        await answered;
      };
    },
    close: async () => {
      for (const socket of pairs.flat()) socket.destroy();
      relay.close();
      await once(relay, "close");
    },
  };
};

describeOnOwnServer(
  "faults on the way",
  ({ server, keep, open, openSession }) => {
    const openProxy = async (): Promise<{ proxy: FaultProxy; url: string }> => {
      const proxy = keep(await startFaultProxy(server()));
      return { proxy, url: `postgres://postgres@${proxy.host}:${proxy.port}/postgres` };
    };

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

    it("a create that comes to the server after its caller was told `unavailable` writes nothing", async () => {
      const relay = keep(await startRelay(server().port));
      const way = `postgres://postgres@127.0.0.1:${relay.port}/postgres`;
      const store = await open({ url: way, maxConnections: 1 });
      const record = sampleRecord();
      const passOn = relay.keepBack();
      expect((await rejectionOf(createSample(store, record))).code).toBe("unavailable");
      const failedAt = store.now();
      await until("the caller looks for it", () => store.now() > failedAt + 1_100);
      await passOn();
      expect(await (await open()).read(record.taskId)).toBeUndefined();
    });

    it("a create that was held up brings nothing back that was created by another, ended and removed", async () => {
      const { proxy, url } = await openProxy();
      // Long enough that the first is not late in itself.
      const store = await open({ url, maxConnections: 1, operationTimeoutMs: 15_000 });
      const other = await open({ operationTimeoutMs: 15_000 });
      for (const options of [{}, { maxOpenForOwner: 5, maxOpenForTool: 5 }]) {
        const record = sampleRecord();
        proxy.set({ frozen: true });
        const first = createSample(store, record, options);
        const repeated = await createSample(other, { ...record, message: "repeated" }, options);
        await other.remove(repeated.taskId);
        proxy.set({});
        const refused = await rejectionOf(first);
        expect([refused.code, refused.data]).toEqual(["conflict", { taskId: record.taskId }]);
        expect(await other.read(record.taskId)).toBeUndefined();
      }
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
      const relay = keep(await startRelay(server().port));
      const direct = `postgres://postgres@127.0.0.1:${relay.port}/postgres`;
      const [store, other] = [await open({ directUrl: direct }), await open()];
      const notified: (TaskId | undefined)[] = [];
      store.watch?.((taskId) => notified.push(taskId));
      await until("it listens", () => notified.length > 0);
      relay.swallow();
      const missed = await createSample(other);
      await until("it listens again", () => notified.length > 1);
      expect(notified).toEqual([undefined, undefined]);
      const received = await createSample(other);
      await until("it hears", () => notified.includes(received.taskId));
      expect(notified).not.toContain(missed.taskId);
    });

    it("a direct way that stands still is `unavailable`, whenever it does, and not a wrong one", async () => {
      const openWith = async (isMoment: (direct: string, request: Buffer) => boolean): Promise<string> => {
        const [main, direct] = [await openProxy(), await openProxy()];
        const watching = (way: string) => (request: Buffer) => {
          if (isMoment(way, request)) direct.proxy.set({ frozen: true });
          return false;
        };
        main.proxy.set({ losesAnswer: watching("main") });
        direct.proxy.set({ losesAnswer: watching("direct") });
        const error = await rejectionOf(open({ url: main.url, directUrl: direct.url }));
        return `${error.code}: ${error.message}`;
      };
      const notified = await Promise.all([
        openWith((way) => way === "direct"),
        openWith((way, request) => way === "direct" && request.includes("LISTEN")),
        openWith((way, request) => way === "main" && request.includes("pg_notify")),
      ]);
      expect(notified).toEqual(Array(3).fill(expect.stringMatching(/^unavailable: .*directUrl/)));
    });

    it("a wrong password, a missing database and a server that is not there are told apart, without the password", async () => {
      const admin = await openSession();
      // PostgreSQL 13 would keep it as MD5.
      await admin.query("SET password_encryption = 'scram-sha-256'");
      await admin.query("CREATE ROLE secretive LOGIN PASSWORD 'right'");
      const at = `127.0.0.1:${server().port}`;
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
        for (let notified: unknown = error; notified instanceof Error; notified = notified.cause)
          expect(`${notified.message} ${notified.stack} ${JSON.stringify(notified)}`).not.toContain("wr0ng-p4ss");
      }
      await admin.query("CREATE SCHEMA secretive AUTHORIZATION secretive");
      const { host, port } = server();
      const pool = new Pool({ host, port, user: "secretive", password: "right", database: "postgres" });
      keep({ close: () => pool.end() });
      const store = keep(await postgresStore({ pool, schema: "secretive" }));
      const notified: unknown[] = [];
      store.watch?.((taskId) => notified.push(taskId));
      await until("it listens with the password", () => notified.length > 0);
    });
  },
  { hba: ["host all secretive 127.0.0.1/32 scram-sha-256"] },
);
