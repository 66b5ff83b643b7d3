import type { RedisServer } from "@taskbridge/services/redis";
import type { Redis } from "ioredis";
import { connect, startOwn, until } from "./redis-bench.ts";

const slots = 16_384;

/** Masters without replicas, which end with the file. */
export const startCluster = async (count: number): Promise<readonly RedisServer[]> =>
  (await formCluster(count)).map(({ server }) => server);

/** A node, and the client of the test to it. */
export interface ClusterNode {
  readonly server: RedisServer;
  readonly redis: Redis;
}

/** One replica for each of these masters, in their order. */
export const addReplicas = async (masters: readonly ClusterNode[]): Promise<readonly ClusterNode[]> => {
  const replicas: ClusterNode[] = [];
  for (const { server, redis } of masters) {
    const replica = await startNode();
    await replica.redis.call("CLUSTER", "MEET", server.host, server.port);
    const id = String(await redis.cluster("MYID"));
    await until("the replica knows its master", () =>
      replica.redis.call("CLUSTER", "REPLICATE", id).then(
        () => true,
        () => undefined,
      ),
    );
    replicas.push(replica);
  }
  for (const { redis } of replicas) {
    await until("the replica follows", async () =>
      (await redis.info("replication")).includes("master_link_status:up") ? true : undefined,
    );
  }
  return replicas;
};

const startNode = async (): Promise<ClusterNode> => {
  const server = await startOwn({ clusterNode: true, flags: ["--cluster-node-timeout", "2000"] });
  return { server, redis: connect(server.url) };
};

export const formCluster = async (count: number): Promise<readonly ClusterNode[]> => {
  const nodes: ClusterNode[] = [];
  for (let index = 0; index < count; index++) nodes.push(await startNode());
  const [first] = nodes;
  for (const [index, { redis, server }] of nodes.entries()) {
    const [from, end] = [Math.ceil((index * slots) / count), Math.ceil(((index + 1) * slots) / count)];
    await redis.cluster("ADDSLOTS", ...Array.from({ length: end - from }, (_, at) => from + at));
    await first?.redis.call("CLUSTER", "MEET", server.host, server.port);
  }
  for (const { redis } of nodes) {
    await until("the cluster has formed", async () => {
      const info = String(await redis.cluster("INFO"));
      return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${count}`) ? true : undefined;
    });
  }
  return nodes;
};
