import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { TaskStore } from "@taskbridge/core/store";
import type { RedisServer } from "@taskbridge/services/redis";
import { createSample, testStore } from "@taskbridge/testkit/store";
import { Cluster } from "ioredis";
import { redisStore } from "../src/index.ts";
import { connect, describeRedis, endRemovals, newPrefix, openStore, rejectionOf } from "./redis-bench.ts";
import { startCluster } from "./redis-cluster.ts";

describeRedis(
  "a Redis Cluster",
  () => {
    let nodes: readonly RedisServer[] = [];
    let prefix = "";

    beforeAll(async () => {
      nodes = await startCluster(3);
    });
    beforeEach(() => {
      prefix = newPrefix();
    });

    const urlOf = (index: number): string => nodes[index]?.url ?? "";

    testStore({
      name: "redisStore on a cluster",
      open: () => redisStore({ url: urlOf(0), prefix }),
      reopen: () => redisStore({ url: urlOf(1), nodes: [urlOf(2)], prefix }),
      elapse: async (ms) => void (await sleep(ms + 20)),
      elapseRemovals: () =>
        endRemovals(
          nodes.map(({ url }) => connect(url)),
          prefix,
        ),
      runner: { describe, it, beforeEach, afterEach },
    });

    describe("of three", () => {
      it("has tasks on each", async () => {
        const store = await openStore({ url: urlOf(0), prefix });
        await Promise.all(Array.from({ length: 60 }, () => createSample(store)));
        for (const { url } of nodes) {
          const keys = await connect(url).keys(`${prefix}*task:*`);
          expect(keys.length).toBeGreaterThan(5);
        }
        expect((await store.list({ operator: true }, {}, undefined, 100)).records).toHaveLength(60);
      });

      it("is reached by a client of the user's own, which stays open", async () => {
        const client = new Cluster(nodes.map(({ host, port }) => ({ host, port })));
        const store: TaskStore = await openStore({ client, prefix });
        const created = await createSample(store, { wakeAt: 1 });
        expect(await store.due(10)).toEqual([created]);
        await store.close();
        expect((await rejectionOf(store.read(created.taskId))).code).toBe("unavailable");
        expect(await client.set(`${prefix}{x}alive`, "yes")).toBe("OK");
        client.disconnect();
      });

      it("is served through one address as well, by what looks like one server", async () => {
        const [node] = await startCluster(1);
        const store = await openStore({ client: connect(node?.url ?? ""), prefix });
        const records = await Promise.all(
          [3, 1, 2].map((wakeAt) => createSample(store, { wakeAt, createdAt: wakeAt })),
        );
        const [third, first, second] = records;
        expect(await store.due(10)).toEqual([first, second, third]);
        expect((await store.list({ operator: true }, {}, undefined, 2)).records).toEqual([third, second]);
        expect((await store.list({ owner: first?.owner ?? null }, {}, undefined, 9)).records).toEqual([
          third,
          second,
          first,
        ]);
      });

      it("answers `unavailable` in time for what is on a node that stands still, and serves the rest", async () => {
        const store = await openStore({ url: urlOf(0), prefix, operationTimeoutMs: 1000 });
        const records = await Promise.all(Array.from({ length: 30 }, () => createSample(store)));
        nodes[2]?.pause();
        const startedAt = Date.now();
        const outcomes = await Promise.allSettled(records.map(({ taskId }) => store.read(taskId)));
        expect(Date.now() - startedAt).toBeLessThan(3000);
        nodes[2]?.resume();
        const read = outcomes.filter((outcome) => outcome.status === "fulfilled");
        expect(read.length).toBeGreaterThan(3);
        expect(read.length).toBeLessThan(30);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "unavailable" });
          else expect(outcome.value).toBeDefined();
        }
      });
    });
  },
  true,
);
