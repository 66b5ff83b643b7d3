import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { createStore } from "../src/index.ts";
import { connect, describeRedis, newPrefix, openStore, rejectionOf, sharedUrl, startOwn } from "./redis-bench.ts";

describeRedis(
  "a server that may lose keys",
  () => {
    it.each(["allkeys-lru", "allkeys-random"])("is refused, saying what to set (%s)", async (policy) => {
      const server = await startOwn({ flags: ["--maxmemory-policy", policy] });
      const error = await rejectionOf(openStore({ url: server.url }));
      expect(error.code).toBe("misconfigured");
      expect(error.message).toContain(`maxmemory-policy ${policy}`);
      expect(error.message).toContain("set maxmemory-policy noeviction");
      expect(await connect(server.url).dbsize()).toBe(0);
    });

    it("is taken where only what has a time to live may go, and then only leases have one", async () => {
      const server = await startOwn({ flags: ["--maxmemory-policy", "volatile-ttl"] });
      const store = await openStore({ url: server.url });
      const options = {
        uniqueKeys: [
          { key: "a", until: store.now() + 60_000 },
          { key: "b", heldForMs: 60_000 },
        ],
      };
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(9) }];
      const { taskId } = await createSample(store, { wakeAt: 1 }, { ...options, payloads, maxOpenForOwner: 9 });
      await createSample(store, { wakeAt: 2 }, { payloads });
      await store.due(10, 60_000);
      await store.remove(taskId);
      await store.saveCursor("video", "1", undefined);
      await store.lease("sweep", 60_000);
      const redis = connect(server.url);
      const keys = await redis.keys("*");
      const lapsing = await Promise.all(keys.map(async (key) => [key, (await redis.pttl(key)) > 0] as const));
      expect(lapsing.filter(([, lapses]) => lapses).map(([key]) => key)).toEqual([
        expect.stringContaining("lease:sweep"),
      ]);
      expect(keys.length).toBeGreaterThan(12);
    });

    it("is taken on trust where the server does not tell", async () => {
      const server = await startOwn({ flags: ["--maxmemory-policy", "allkeys-lru"] });
      const admin = connect(server.url);
      await admin.acl(
        "SETUSER",
        "app",
        "on",
        ">pw",
        "~taskbridge:*",
        "&taskbridge:*",
        "+@all",
        "-@dangerous",
        "-@admin",
      );
      const store = await openStore({ url: `redis://app:pw@${server.host}:${server.port}` });
      const created = await createSample(store, { wakeAt: 1 }, { uniqueKeys: [{ key: "k" }], maxOpenForOwner: 1 });
      expect(await store.due(1)).toEqual([created]);
      await store.remove(created.taskId);
    });
  },
  true,
);

describeRedis("a store of another version", () => {
  const marked = async (
    marker: string,
  ): Promise<{ prefix: string; url: string; kept: () => Promise<string | null> }> => {
    const [prefix, url] = [newPrefix(), await sharedUrl()];
    const redis = connect(url);
    await redis.set(`${prefix}{meta}schema`, marker);
    return { prefix, url, kept: () => redis.get(`${prefix}{meta}schema`) };
  };

  it("is refused where that says so, and left as it is", async () => {
    const marker = '{"version":7,"readableBy":2}';
    const { prefix, url, kept } = await marked(marker);
    const error = await rejectionOf(openStore({ url, prefix }));
    expect([error.code, error.message]).toEqual(["misconfigured", expect.stringMatching(/schema 7.*by 2.*knows 1/)]);
    expect(await kept()).toBe(marker);
  });

  it("is shared with a newer one that allows it, which stays the one that is told", async () => {
    const marker = '{"version":2,"readableBy":1,"more":true}';
    const { prefix, url, kept } = await marked(marker);
    await createSample(await openStore({ url, prefix }));
    expect(await kept()).toBe(marker);
  });

  it("is brought up to date when it is an older one", async () => {
    const { prefix, url, kept } = await marked('{"version":0,"readableBy":0}');
    await Promise.all([openStore({ url, prefix }), openStore({ url, prefix })]);
    expect(await kept()).toBe('{"version":1,"readableBy":1}');
  });

  it.each(["[]", "hello", '{"version":"1"}'])("is told from what is not ours: %s", async (marker) => {
    const { prefix, url, kept } = await marked(marker);
    const error = await rejectionOf(openStore({ url, prefix }));
    expect([error.code, error.message]).toEqual([
      "misconfigured",
      expect.stringContaining(`${prefix}{meta}schema is not ours`),
    ]);
    expect(await kept()).toBe(marker);
  });
});

describeRedis("time", () => {
  it("is the server's, wherever the clock of this process begins", async () => {
    const [url, prefix] = [await sharedUrl(), newPrefix()];
    const stores = await Promise.all(
      [-3_600_000, 0, 1e12].map((offset) =>
        openStore({ url, prefix, clock: { now: () => performance.now() + offset } }),
      ),
    );
    const [seconds = 0, micros = 0] = await connect(url).time();
    const atServer = Number(seconds) * 1000 + Number(micros) / 1000;
    for (const store of stores) expect(Math.abs(store.now() - atServer)).toBeLessThan(250);
    const [ahead, , behind] = stores;
    const until = Number(ahead?.now()) + 500;
    const { taskId } = await createSample(ahead as (typeof stores)[number], {}, { uniqueKeys: [{ key: "k", until }] });
    const conflict = await rejectionOf(
      createSample(behind as (typeof stores)[number], {}, { uniqueKeys: [{ key: "k" }] }),
    );
    expect(conflict.data).toEqual({ taskId });
  });

  it("is asked for anew when what this process believes is off, so that its creates go on", async () => {
    for (const leapMs of [-600_000, 600_000]) {
      let offset = 0;
      const clock = { now: () => performance.now() + offset };
      const store = await openStore({ url: await sharedUrl(), prefix: newPrefix(), clock, operationTimeoutMs: 2000 });
      const before = store.now();
      // As after the machine was asleep, during which a monotonic clock may stand still.
      offset = leapMs;
      const created = await createSample(store, {}, { uniqueKeys: [{ key: "k" }], maxOpenForOwner: 1 });
      expect(await store.read(created.taskId)).toEqual(created);
      if (leapMs < 0) expect(store.now() - before).toBeLessThan(5000);
      await store.close();
    }
  });
});

describeRedis("what has lapsed or was removed", () => {
  it("leaves nothing behind, whether or not anybody creates again (case 10)", async () => {
    const [url, prefix] = [await sharedUrl(), newPrefix()];
    const store = await openStore({ url, prefix });
    const until = store.now() + 300;
    const records = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        createSample(
          store,
          { wakeAt: 5 },
          {
            uniqueKeys: [
              { key: `until-${index}`, until },
              { key: `held-${index}`, heldForMs: 300 },
              { key: `plain-${index}` },
            ],
            maxOpenForOwner: 100,
            payloads: [{ name: "secret:q", bytes: new Uint8Array(9) }],
          },
        ),
      ),
    );
    await store.due(10, 300);
    await Promise.all(records.map(({ taskId }) => store.remove(taskId)));
    const redis = connect(url);
    expect((await redis.keys(`${prefix}*unique:*`)).length).toBeGreaterThanOrEqual(40);
    await sleep(350);
    // A process that has just begun looks at all shards.
    const observer = await openStore({ url, prefix });
    expect(await observer.due(10)).toEqual([]);
    expect(await observer.nextWakeAt()).toBeNull();
    expect(await redis.keys(`${prefix}*`)).toEqual([`${prefix}{meta}schema`]);
  });
});

describeRedis("createStore", () => {
  it("opens a URL with the options of a configuration", async () => {
    const prefix = newPrefix();
    const options = { prefix, operationTimeoutMs: 1234 };
    const store = await createStore(await sharedUrl(), { baseDirectory: "/nowhere", options });
    await createSample(store);
    await store.close();
    expect(await connect(await sharedUrl()).exists(`${prefix}{meta}schema`)).toBe(1);
  });
});

describe("options", () => {
  const url = "redis://:p4ss@127.0.0.1:1";
  it.each([
    ["redis://", {}, undefined],
    ["http://127.0.0.1", {}, undefined],
    ["redis://127.0.0.1/zero", {}, undefined],
    [url, { prefix: "a{b}" }, "prefix"],
    [url, { prefix: 7 }, "prefix"],
    [url, { operationTimeoutMs: 0 }, "operationTimeoutMs"],
    [url, { nodes: ["tcp://127.0.0.1"] }, "nodes[0]"],
    [url, { nodes: "redis://127.0.0.1" }, "nodes"],
    [url, { waitReplicas: 1 }, "waitReplicas"],
    [url, { waitReplicas: { count: 0 } }, "waitReplicas.count"],
    [url, { waitReplicas: { count: 1, timeoutMs: 5000 } }, "waitReplicas.timeoutMs"],
    [url, { waitReplicas: { count: 1, quorum: 2 } }, "waitReplicas.quorum"],
    [url, { keyPrefix: "x" }, "keyPrefix"],
    [url, { client: {} }, "client"],
    [url, { clock: {} }, "clock"],
  ])("refuses %s with %j", async (text, options, path) => {
    const error = await rejectionOf(createStore(text, { baseDirectory: "/nowhere", options }));
    expect([error.code, error.data?.["path"]]).toEqual(["misconfigured", path]);
    expect(error.message).not.toContain("p4ss");
  });
});
