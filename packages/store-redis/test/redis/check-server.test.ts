import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import {
  connect,
  describeRedis,
  newPrefix,
  openStore,
  rejectionOf,
  sharedUrl,
  startOwn,
  until,
} from "../redis-bench.ts";

describeRedis("a database that the server does not have", () => {
  it("is refused, and nothing is written to another", async () => {
    const server = await startOwn();
    const error = await rejectionOf(openStore({ url: `${server.url}/99` }));
    expect(error.code).toBe("misconfigured");
    expect(error.message).toContain("has no such database");
    expect(await connect(server.url).dbsize()).toBe(0);
  });
});

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
      await store.values.write("video", "1", undefined);
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
        "resetchannels",
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
    const marker = '{"version":7,"readableBy":3}';
    const { prefix, url, kept } = await marked(marker);
    const error = await rejectionOf(openStore({ url, prefix }));
    expect([error.code, error.message]).toEqual(["misconfigured", expect.stringMatching(/schema 7.*by 3.*knows 2/)]);
    expect(await kept()).toBe(marker);
  });

  it("is shared with a newer one that allows it, which stays the one that is told", async () => {
    const marker = '{"version":3,"readableBy":2,"more":true}';
    const { prefix, url, kept } = await marked(marker);
    await createSample(await openStore({ url, prefix }));
    expect(await kept()).toBe(marker);
  });

  it("is refused when its version was never released, and left as it is", async () => {
    const marker = '{"version":1,"readableBy":1}';
    const { prefix, url, kept } = await marked(marker);
    const error = await rejectionOf(openStore({ url, prefix }));
    expect([error.code, error.message]).toEqual([
      "misconfigured",
      expect.stringContaining("start anew with another prefix"),
    ]);
    expect(await kept()).toBe(marker);
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

describeRedis(
  "a server with access lists",
  () => {
    it("need not permit more than the README says", async () => {
      const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
      const [, rights = ""] = /^user taskbridge on >\S+ (.*)$/m.exec(readme) ?? [];
      const server = await startOwn();
      await connect(server.url).acl("SETUSER", "taskbridge", "on", ">PASSWORD", ...rights.split(" "));
      const url = `redis://taskbridge:PASSWORD@${server.host}:${server.port}`;
      const [store, other] = [await openStore({ url }), await openStore({ url })];
      const reported: unknown[] = [];
      store.watch?.((taskId) => reported.push(taskId));
      await until("it listens", () => (reported.length > 0 ? true : undefined));
      const payloads = [{ name: "secret:a" as const, bytes: new Uint8Array(9) }];
      const options = { uniqueKeys: [{ key: "k", heldForMs: 10 }], maxOpenForOwner: 1, payloads };
      const created = await createSample(other, { wakeAt: 1 }, options);
      await until("the change is told", () => reported.find((taskId) => taskId === created.taskId));
      expect((await rejectionOf(createSample(store, {}, options))).code).toBe("conflict");
      expect((await rejectionOf(createSample(store, {}, { maxOpenForOwner: 1 }))).code).toBe("limit_exceeded");
      expect(await store.due(1, 1000)).toEqual([created]);
      expect(await store.nextWakeAt()).toBe(1);
      expect(await store.findByExecution(created.adapterId, { key: created.startKey })).toEqual(created);
      expect((await store.list({ operator: true }, {}, undefined, 5)).records).toEqual([created]);
      await store.putPayload(created.taskId, "output", 0, new Uint8Array(9));
      await store.revise({ ...created, slotHeld: false }, 1, { dropPayloads: "all" });
      expect(await store.readPayload(created.taskId, "output", { offset: 0, length: 9 })).toBeUndefined();
      const lease = await store.lease("sweep", 1000);
      expect(await lease?.renew()).toBe(true);
      await lease?.release();
      await store.values.write("video", "1", undefined);
      expect(await store.values.read("video")).toBe("1");
      await store.remove(created.taskId);
    });
  },
  true,
);

describeRedis(
  "what a store tells of its server",
  () => {
    const reported = async (flags: readonly string[], query = ""): Promise<unknown> => {
      const server = await startOwn({ flags: [...flags] });
      const [store, { host }] = [await openStore({ url: `${server.url}${query}` }), new URL(server.url)];
      const description = await store.describe?.();
      expect(description).toMatchObject({
        kind: expect.stringMatching(/^(Redis|Valkey) \d+\.\d+/),
        location: host,
        database: query === "" ? "0" : query.slice(1),
        namespace: expect.stringMatching(/^prefix /),
      });
      const { durability, warning } = description ?? {};
      return { durability, warning };
    };

    it("is product and version, place, database, prefix and durability, with what may be lost", async () => {
      expect(await reported(["--appendonly", "yes", "--appendfsync", "always"], "/3")).toEqual({
        durability: "appendonly yes, appendfsync always",
      });
      expect(await reported(["--appendonly", "yes", "--appendfsync", "everysec"])).toEqual({
        durability: "appendonly yes, appendfsync everysec",
        warning: "appendfsync is everysec: when its machine crashes, the last second or two is lost",
      });
      expect(await reported(["--appendonly", "no"])).toEqual({
        durability: "appendonly no",
        warning: expect.stringMatching(/^appendonly is no: .*; set appendonly yes$/),
      });
    });

    it("is a warning first of all where fewer replicas are there than are waited for", async () => {
      const server = await startOwn();
      const description = await (await openStore({ url: server.url, waitReplicas: { count: 1 } })).describe?.();
      expect(description?.warning).toBe("waitReplicas.count is 1, and 0 replicas are connected: no task can be kept");
    });

    it("is less where the server may not be asked, and never a password", async () => {
      const server = await startOwn();
      const admin = connect(server.url);
      const rights = "+@read +@write +@connection +@scripting +publish +subscribe +wait +time";
      await admin.call("acl", "setuser", "app", "on", ">s3cret", "~*", "&*", ...rights.split(" "));
      const url = server.url.replace("//", "//app:s3cret@");
      const description = await (await openStore({ url })).describe?.();
      expect(description).toMatchObject({ kind: "Redis", location: new URL(url).host });
      expect(Object.keys(description ?? {})).not.toContain("durability");
      expect(JSON.stringify(description)).not.toContain("s3cret");
    });
  },
  true,
);
