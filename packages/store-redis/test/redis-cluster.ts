import type { RedisServer } from "@taskbridge/services/redis";
import type { Redis } from "ioredis";
import { connect, startOwn, until } from "./redis-bench.ts";

const slots = 16_384;

/** Masters without replicas, which end with the file. */
export const startCluster = async (count: number): Promise<readonly RedisServer[]> => {
  const nodes: { readonly server: RedisServer; readonly redis: Redis }[] = [];
  for (let index = 0; index < count; index++) {
    const server = await startOwn({ clusterNode: true, flags: ["--cluster-node-timeout", "2000"] });
    nodes.push({ server, redis: connect(server.url) });
  }
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
  return nodes.map(({ server }) => server);
};
