import { once } from "node:events";
import { createServer } from "node:net";
import type { RedisServer } from "@taskbridge/services/redis";
import type { Redis } from "ioredis";
import { connect, startOwn, until } from "./redis-bench.ts";

const slots = 16_384;

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
};

/** Masters without replicas, which end with the file. */
export const startCluster = async (count: number): Promise<readonly RedisServer[]> => {
  const nodes: { readonly server: RedisServer; readonly redis: Redis; readonly busPort: number }[] = [];
  for (let index = 0; index < count; index++) {
    const busPort = await freePort();
    const settings = ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-node-timeout", "2000"];
    const server = await startOwn({ flags: settings });
    nodes.push({ server, redis: connect(server.url), busPort });
  }
  const [first] = nodes;
  for (const [index, { redis, server, busPort }] of nodes.entries()) {
    const [from, end] = [Math.ceil((index * slots) / count), Math.ceil(((index + 1) * slots) / count)];
    await redis.cluster("ADDSLOTS", ...Array.from({ length: end - from }, (_, at) => from + at));
    await first?.redis.call("CLUSTER", "MEET", server.host, server.port, busPort);
  }
  for (const { redis } of nodes) {
    await until("the cluster has formed", async () => {
      const info = String(await redis.cluster("INFO"));
      return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${count}`) ? true : undefined;
    });
  }
  return nodes.map(({ server }) => server);
};
