import { inspect } from "node:util";
import { describe, expect, it } from "@jest/globals";
import type { TaskId, TaskStore } from "@taskbridge/core/store";
import { type FaultProxy, startFaultProxy } from "@taskbridge/services/fault-proxy";
import type { RedisServer } from "@taskbridge/services/redis";
import { createSample, sampleRecord } from "@taskbridge/testkit/store";
import {
  afterFile,
  connect,
  describeRedis,
  newPrefix,
  openStore,
  rejectionOf,
  startOwn,
  until,
} from "./redis-bench.ts";

const callMs = 800;
/** What a call may take beyond its time on a machine that is busy with other tests. */
const slackMs = 2500;

/** Fails unless it rejects with `unavailable` in time. */
const assertUnavailable = async (call: Promise<unknown>): Promise<void> => {
  const startedAt = performance.now();
  const { code, message } = await rejectionOf(call);
  expect([code, message]).toEqual(["unavailable", expect.any(String)]);
  expect(performance.now() - startedAt).toBeLessThan(callMs + slackMs);
};

const assertAllUnavailable = async (store: TaskStore, taskId: TaskId): Promise<void> => {
  await Promise.all(
    [
      store.read(taskId),
      store.list({ operator: true }, {}, undefined, 10),
      store.due(10),
      createSample(store),
      store.readPayload(taskId, "input", { offset: 0, length: 1 }),
      store.values.read("video"),
      store.lease("sweep", 1000),
    ].map(assertUnavailable),
  );
};

/** Waits until a store serves again, which it does by itself. */
const readAgain = (store: TaskStore, taskId: TaskId): Promise<unknown> =>
  until("the store serves again", () => store.read(taskId).catch(() => undefined));

const openBehindProxy = async (server: RedisServer): Promise<{ proxy: FaultProxy; store: TaskStore; url: string }> => {
  const proxy = await startFaultProxy(server);
  afterFile(() => proxy.close());
  const url = `redis://${proxy.host}:${proxy.port}`;
  return { proxy, url, store: await openStore({ url, prefix: newPrefix(), operationTimeoutMs: callMs }) };
};

describeRedis(
  "faults",
  () => {
    it("a server that is killed: `unavailable`, never `not found`, and with its log it comes back with everything", async () => {
      const server = await startOwn({ appendOnly: true, flags: ["--appendfsync", "always"] });
      const store = await openStore({ url: server.url, operationTimeoutMs: callMs });
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(100_000).fill(7) }];
      const created = await createSample(
        store,
        { wakeAt: 1 },
        { payloads, uniqueKeys: [{ key: "k" }], maxOpenForOwner: 9 },
      );
      await server.kill();
      await assertAllUnavailable(store, created.taskId);
      await server.restart();
      expect(await readAgain(store, created.taskId)).toEqual(created);
      expect(await store.due(10)).toEqual([created]);
      expect(await rejectionOf(createSample(store, {}, { uniqueKeys: [{ key: "k" }] }))).toMatchObject({
        code: "conflict",
        data: { taskId: created.taskId },
      });
      expect((await store.readPayload(created.taskId, "input", { offset: 0, length: 10 }))?.totalBytes).toBe(100_000);
    });

    it("a server that stands still: `unavailable` in time, also for who opens, and service afterwards", async () => {
      const server = await startOwn();
      const store = await openStore({ url: server.url, operationTimeoutMs: callMs });
      const created = await createSample(store);
      server.pause();
      await assertAllUnavailable(store, created.taskId);
      await assertUnavailable(openStore({ url: server.url, operationTimeoutMs: callMs }));
      server.resume();
      expect(await readAgain(store, created.taskId)).toEqual(created);
    });

    it("a server that stands still once it is connected to: `unavailable` for who opens, naming it", async () => {
      const { proxy, url } = await openBehindProxy(await startOwn());
      const isChecked = (request: Buffer): boolean => {
        if (request.includes("memory")) proxy.set({ frozen: true });
        return false;
      };
      proxy.set({ losesAnswer: isChecked });
      const error = await rejectionOf(openStore({ url, operationTimeoutMs: callMs }));
      expect([error.code, error.operation]).toEqual(["unavailable", "open"]);
      expect(error.message).toContain(`127.0.0.1:${proxy.port}`);
    });

    it("a server that was never there: `unavailable` in time, naming it", async () => {
      const server = await startOwn();
      await server.stop();
      const error = await rejectionOf(openStore({ url: server.url, operationTimeoutMs: callMs }));
      expect([error.code, error.operation]).toEqual(["unavailable", "open"]);
      expect(error.message).toContain(`127.0.0.1:${server.port}`);
      expect(error.message).toContain("ECONNREFUSED");
    });

    it("an outage that lasts is told at once, and not to each caller anew after a wait", async () => {
      const server = await startOwn();
      const store = await openStore({ url: server.url, operationTimeoutMs: callMs });
      const { taskId } = await createSample(store);
      await server.kill();
      await assertUnavailable(store.read(taskId));
      await until("the outage is old", async () => {
        const startedAt = performance.now();
        await rejectionOf(store.read(taskId));
        return performance.now() - startedAt < callMs / 4 ? true : undefined;
      });
    });

    it("a network that swallows everything: `unavailable` in time, and service afterwards", async () => {
      const { proxy, store, url } = await openBehindProxy(await startOwn());
      const created = await createSample(store);
      proxy.set({ frozen: true });
      await assertAllUnavailable(store, created.taskId);
      await assertUnavailable(openStore({ url, operationTimeoutMs: callMs }));
      proxy.set({});
      expect(await readAgain(store, created.taskId)).toEqual(created);
    });

    it("an answer that is lost: the write may be there, and a repeated create finds it", async () => {
      const { proxy, store } = await openBehindProxy(await startOwn());
      // So that the server has the scripts.
      await createSample(store, {}, { uniqueKeys: [{ key: "other" }], maxOpenForOwner: 1 });
      for (const options of [{}, { uniqueKeys: [{ key: "k" }], maxOpenForOwner: 3 }]) {
        const record = sampleRecord();
        const isWrite = (request: Buffer): boolean => request.includes(record.startKey);
        proxy.set({ losesAnswer: isWrite });
        await assertUnavailable(createSample(store, record, options));
        proxy.set({});
        const again = await rejectionOf(createSample(store, record, options));
        expect(again).toMatchObject({ code: "conflict", data: { taskId: record.taskId } });
        expect(await store.read(record.taskId)).toEqual({ ...record, revision: 1 });
      }
      expect((await rejectionOf(createSample(store, {}, { maxOpenForOwner: 3 }))).code).toBe("limit_exceeded");
    });

    it("a create that was held up brings nothing back that was created by another, ended and removed", async () => {
      const server = await startOwn();
      const [proxy, prefix] = [await startFaultProxy(server), newPrefix()];
      afterFile(() => proxy.close());
      // Long enough that the first is not late in itself.
      const store = await openStore({ url: `redis://${proxy.host}:${proxy.port}`, prefix, operationTimeoutMs: 15_000 });
      const other = await openStore({ url: server.url, prefix, operationTimeoutMs: 15_000 });
      for (const options of [{}, { maxOpenForOwner: 5, maxOpenForTool: 5 }]) {
        const record = sampleRecord();
        proxy.set({ frozen: true });
        const first = createSample(store, record, options);
        const repeated = await createSample(other, { ...record, message: "repeated" }, options);
        await other.remove(repeated.taskId);
        proxy.set({});
        expect(await rejectionOf(first)).toMatchObject({ code: "conflict", data: { taskId: record.taskId } });
        expect(await other.read(record.taskId)).toBeUndefined();
      }
    });

    it("a connection that is cut: a moment's wait, and a gap told to who watches", async () => {
      const server = await startOwn();
      const prefix = newPrefix();
      const proxy = await startFaultProxy(server);
      afterFile(() => proxy.close());
      const store = await openStore({ url: `redis://${proxy.host}:${proxy.port}`, prefix });
      const other = await openStore({ url: server.url, prefix });
      const own = await createSample(store);
      const notified: (TaskId | undefined)[] = [];
      const stop = store.watch?.((taskId) => notified.push(taskId));
      await until("it listens", () => (notified.length === 1 ? true : undefined));
      await store.revise(own, 1);
      const foreign = await createSample(other);
      await until("the change is told", () => notified.find((taskId) => taskId === foreign.taskId));
      proxy.cut();
      await until("the gap is told", () => (notified.length === 3 ? true : undefined));
      const later = await createSample(other);
      await until("it goes on", () => notified.find((taskId) => taskId === later.taskId));
      expect(notified).toEqual([undefined, foreign.taskId, undefined, later.taskId]);
      expect(await store.read(own.taskId)).toMatchObject({ revision: 2 });
      stop?.();
    });

    it("scripts that the server has forgotten are sent again", async () => {
      const server = await startOwn();
      const store = await openStore({ url: server.url });
      const created = await createSample(store);
      await connect(server.url).call("SCRIPT", "FLUSH");
      const revised = await store.revise(created, 1);
      expect(await store.read(created.taskId)).toEqual(revised);
    });

    it("a removal that does not come to its end, where scripts were forgotten, frees no key that is to stay taken", async () => {
      const server = await startOwn();
      const { proxy, store } = await openBehindProxy(server);
      const uniqueKeys = [{ key: "k", heldForMs: 3_600_000 }];
      const [plain, created] = [await createSample(store), await createSample(store, {}, { uniqueKeys })];
      await connect(server.url).call("SCRIPT", "FLUSH");
      // So that the server knows how to remove, but not how to hold a key.
      await store.remove(plain.taskId);
      proxy.set({ losesAnswer: (request) => request.includes("hold") });
      await assertUnavailable(store.remove(created.taskId));
      proxy.set({});
      const isTaken = { code: "conflict", data: { taskId: created.taskId } };
      const take = (): Promise<unknown> => rejectionOf(createSample(store, {}, { uniqueKeys }));
      await until("it serves again", () =>
        store
          .nextWakeAt()
          .catch(() => undefined)
          .then((at) => at === null || undefined),
      );
      expect(await take()).toMatchObject(isTaken);
      await store.remove(created.taskId);
      expect(await take()).toMatchObject(isTaken);
    });

    it("a server that has become a replica takes no writes, and again once it is a master", async () => {
      const master = await startOwn();
      const server = await startOwn();
      const store = await openStore({ url: server.url, operationTimeoutMs: callMs });
      await createSample(store);
      await connect(server.url).replicaof(master.host, master.port);
      const error = await rejectionOf(createSample(store));
      expect([error.code, error.message]).toEqual(["unavailable", expect.stringContaining("is a replica")]);
      await connect(server.url).replicaof("NO", "ONE");
      await until("it writes again", () => createSample(store).catch(() => undefined));
    });

    it("a server without memory refuses what is new as `unavailable`, and still reads and removes", async () => {
      const server = await startOwn({ flags: ["--maxmemory-policy", "noeviction"] });
      const store = await openStore({ url: server.url });
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(200_000) }];
      const held = { key: "held", heldForMs: 3_600_000 };
      const created = await createSample(store, {}, { payloads, uniqueKeys: [held] });
      const admin = connect(server.url);
      await admin.config("SET", "maxmemory", "1mb");
      const uniqueKeys = [{ key: "k" }];
      const error = await rejectionOf(createSample(store, {}, { payloads, uniqueKeys }));
      expect([error.code, error.message]).toEqual(["unavailable", expect.stringContaining("has no memory left")]);
      expect(await store.read(created.taskId)).toEqual(created);
      await expect(store.probe?.()).rejects.toMatchObject({ code: "unavailable" });
      await store.remove(created.taskId);
      expect(await store.read(created.taskId)).toBeUndefined();
      await admin.config("SET", "maxmemory", "0");
      expect(await rejectionOf(createSample(store, {}, { uniqueKeys: [held] }))).toMatchObject({
        code: "conflict",
        data: { taskId: created.taskId },
      });
      await createSample(store, {}, { payloads, uniqueKeys });
    });

    it("a server that is busy with somebody's script is `unavailable`", async () => {
      const server = await startOwn({ flags: ["--lua-time-limit", "20"] });
      const store = await openStore({ url: server.url, operationTimeoutMs: callMs });
      const { taskId } = await createSample(store);
      const admin = connect(server.url);
      const endless = connect(server.url)
        .eval("while true do end", 0)
        .catch(() => "killed");
      await until("it is busy", async () => {
        const outcome = await store.read(taskId).catch((error: unknown) => String(error));
        return String(outcome).includes("BUSY") ? true : undefined;
      });
      await assertUnavailable(createSample(store));
      await admin.script("KILL");
      expect(await endless).toBe("killed");
      await readAgain(store, taskId);
    });

    describe("a login", () => {
      const password = "s3cret-p@ss/word";
      const refused = async (url: string): Promise<string> => {
        const startedAt = performance.now();
        const error = await rejectionOf(openStore({ url, operationTimeoutMs: 30_000 }));
        expect(performance.now() - startedAt).toBeLessThan(10_000);
        expect(error.code).toBe("misconfigured");
        return inspect(error, { depth: 10 });
      };

      it("that is wrong or missing is told at once, without what was tried", async () => {
        const server = await startOwn({ password });
        await openStore({ url: server.url });
        const { host, port } = server;
        const wrong = encodeURIComponent("wr0ng-p@ss");
        const notified = await refused(`redis://:${wrong}@${host}:${port}`);
        expect(notified).toContain("WRONGPASS");
        for (const secret of [wrong, "wr0ng-p@ss", password]) expect(notified).not.toContain(secret);
        expect(await refused(`redis://${host}:${port}`)).toContain("NOAUTH");
      });

      it("without the rights that are needed is told", async () => {
        const server = await startOwn();
        await connect(server.url).acl("SETUSER", "reader", "on", `>pw`, "~*", "&*", "+@read", "+@connection", "+info");
        const notified = await refused(`redis://reader:pw@${server.host}:${server.port}`);
        expect(notified).toContain("NOPERM");
      });
    });
  },
  true,
);
