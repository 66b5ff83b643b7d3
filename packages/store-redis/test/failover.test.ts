import { afterEach, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { asTaskId, isBridgeError, type TaskStore } from "@taskbridge/core/store";
import type { RedisServer } from "@taskbridge/services/redis";
import { createSample } from "@taskbridge/testkit/store";
import { connect, describeRedis, newPrefix, openStore, startOwn, until } from "./redis-bench.ts";
import { addReplicas, type ClusterNode, formCluster } from "./redis-cluster.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Creates and revises tasks without a pause, and notes what was acknowledged and what was refused. */
const writeOn = (store: TaskStore) => {
  const acknowledged = new Map<string, number>();
  const refused: unknown[] = [];
  let isOver = false;
  ends.push(() => {
    isOver = true;
  });
  const work = async (): Promise<void> => {
    while (!isOver) {
      try {
        const record = await createSample(store);
        acknowledged.set(record.taskId, record.revision);
        const { revision } = await store.revise({ ...record, wakeAt: 1 }, record.revision);
        acknowledged.set(record.taskId, revision);
      } catch (error) {
        refused.push(error);
        // A store that knows itself away answers at once.
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  const workers = Array.from({ length: 8 }, work);
  return {
    acknowledged,
    refused,
    more: async (count: number): Promise<void> => {
      const wanted = acknowledged.size + count;
      await until(`${count} more tasks`, () => (acknowledged.size >= wanted ? true : undefined), 30_000);
    },
    end: async (): Promise<void> => {
      isOver = true;
      await Promise.all(workers);
    },
  };
};

const isUnavailable = (error: unknown): boolean => isBridgeError(error) && error.code === "unavailable";

/** Asks again while the store says that it cannot be reached. */
const whenServed = <Value>(what: string, ask: () => Promise<Value>): Promise<Value> =>
  until(
    what,
    () =>
      ask().then(
        (value) => ({ value }),
        (error: unknown) => {
          if (!isUnavailable(error)) throw error;
          return undefined;
        },
      ),
    30_000,
  ).then(({ value }) => value);

const findLost = async (store: TaskStore, acknowledged: ReadonlyMap<string, number>): Promise<readonly string[]> => {
  const lost: string[] = [];
  for (const [taskId, revision] of acknowledged) {
    const record = await whenServed("a task is read", () => store.read(asTaskId(taskId)));
    if (record === undefined || record.revision < revision) lost.push(taskId);
  }
  return lost;
};

describeRedis(
  "a Redis Cluster with replicas",
  () => {
    let masters: readonly ClusterNode[] = [];
    let replicas: readonly ClusterNode[] = [];
    let prefix = "";

    const open = (options: object = {}): Promise<TaskStore> =>
      openStore({ url: masters[1]?.server.url ?? "", nodes: [masters[2]?.server.url ?? ""], prefix, ...options });
    const becomesMaster = ({ redis }: ClusterNode): Promise<true> =>
      until(
        "the replica leads",
        async () => ((await redis.info("replication")).includes("role:master") ? true : undefined),
        30_000,
      );

    beforeAll(async () => {
      masters = await formCluster(3);
      replicas = await addReplicas(masters);
    });
    beforeEach(() => {
      prefix = newPrefix();
    });

    it("goes on through a planned failover, and loses nothing that it acknowledged", async () => {
      const store = await open();
      const writing = writeOn(store);
      await writing.more(100);
      await replicas[0]?.redis.call("CLUSTER", "FAILOVER");
      await becomesMaster(replicas[0] as ClusterNode);
      await writing.more(300);
      await writing.end();
      expect(writing.refused.filter((error) => !isUnavailable(error))).toEqual([]);
      expect(await findLost(store, writing.acknowledged)).toEqual([]);
    }, 60_000);

    it("that waits for replicas loses nothing that it acknowledged when a master is killed", async () => {
      const store = await open({ waitReplicas: { count: 1 } });
      const writing = writeOn(store);
      await writing.more(100);
      await masters[1]?.server.kill();
      await becomesMaster(replicas[1] as ClusterNode);
      await until("all slots are served", async () =>
        String(await replicas[1]?.redis.cluster("INFO")).includes("cluster_state:ok") ? true : undefined,
      );
      // Until it comes back, as a replica, what lies on the new master is acknowledged by nobody else.
      await masters[1]?.server.restart();
      await writing.more(50);
      await writing.end();
      expect(writing.refused.filter((error) => !isUnavailable(error))).toEqual([]);
      expect(await findLost(store, writing.acknowledged)).toEqual([]);
    }, 60_000);

    it("never takes a task for missing while its slot moves, and serves it afterwards", async () => {
      const [from, to] = [masters[2], replicas[1]] as [ClusterNode, ClusterNode];
      const store = await open();
      let record = await createSample(store, { wakeAt: 1 });
      let key: string | undefined;
      while (key === undefined) {
        [key] = await from.redis.keys(`${prefix}*task:*`);
        if (key === undefined) record = await createSample(store, { wakeAt: 1 });
      }
      const slot = Number(await from.redis.cluster("KEYSLOT", key));
      const [fromId, toId] = [await from.redis.cluster("MYID"), await to.redis.cluster("MYID")].map(String);
      await to.redis.call("CLUSTER", "SETSLOT", slot, "IMPORTING", fromId ?? "");
      await from.redis.call("CLUSTER", "SETSLOT", slot, "MIGRATING", toId ?? "");
      const there = record.taskId;
      const attempts = async (): Promise<unknown> =>
        store.read(there).then(
          (found) => found,
          (error: unknown) => error,
        );
      const whileMoving = await attempts();
      const keys = (await from.redis.call("CLUSTER", "GETKEYSINSLOT", slot, 1000)) as string[];
      await from.redis.call("MIGRATE", to.server.host, to.server.port, "", 0, 5000, "KEYS", ...keys);
      const whenMoved = await attempts();
      for (const { redis } of [to, from]) await redis.call("CLUSTER", "SETSLOT", slot, "NODE", toId ?? "");
      for (const seen of [whileMoving, whenMoved]) {
        if (!isUnavailable(seen)) expect(seen).toEqual(record);
      }
      const revised = await whenServed("the task is written at its new place", () =>
        store.revise({ ...record, wakeAt: 2 }, 1),
      );
      expect(await store.read(there)).toEqual(revised);
      expect(await to.redis.exists(key)).toBe(1);
    }, 60_000);
  },
  true,
);

describeRedis(
  "Redis with Sentinel",
  () => {
    it("goes on at the new master", async () => {
      const master: RedisServer = await startOwn();
      const replica = await startOwn({ flags: ["--replicaof", master.host, String(master.port)] });
      await until("the replica follows", async () =>
        (await connect(replica.url).info("replication")).includes("master_link_status:up") ? true : undefined,
      );
      const sentinel = await startOwn({ sentinelOf: { name: "mine", host: master.host, port: master.port } });
      const store = await openStore({
        url: "redis://mine",
        sentinels: ["redis://127.0.0.1:1", sentinel.url],
        waitReplicas: { count: 1 },
      });
      const created = await createSample(store, { wakeAt: 1 });
      await master.kill();
      const found = await whenServed("the task is read from the new master", () => store.read(created.taskId));
      expect(found).toEqual(created);
      expect(await connect(replica.url).role()).toContain("master");
    }, 60_000);
  },
  true,
);
