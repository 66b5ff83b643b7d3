import { BridgeError } from "@taskbridge/core/store";
import type { ParsedOptions, WaitReplicas } from "../parse-options.ts";
import { isClusterNode } from "./check-server.ts";
import { createClientPort, inTime } from "./client-port.ts";
import { addressOf, isCluster, openBySentinels, openCluster, openSingle, type RedisClient } from "./redis-client.ts";
import type { Call, RedisPort } from "./redis-port.ts";
import { toError } from "./to-error.ts";
import { whenReady } from "./when-ready.ts";

/** An open connection. */
export interface Connection {
  readonly client: RedisClient;
  readonly port: RedisPort;
  /** Closes what was opened here. */
  close(): void;
}

/** Connects within the call's time, else rejects with `unavailable`, or with `misconfigured` where the login is refused. */
export const openConnection = async (options: ParsedOptions, call: Call): Promise<Connection> => {
  const { operationTimeoutMs: timeoutMs, waitReplicas } = options;
  const opened: RedisClient[] = [];
  const close = (): void => {
    for (const client of opened) client.disconnect();
  };
  const open = async (client: RedisClient): Promise<RedisClient> => {
    opened.push(client);
    await whenReady(client, call, timeoutMs);
    return client;
  };
  const connect = async (): Promise<RedisClient> => {
    const { source } = options;
    if ("client" in source) {
      await whenReady(source.client, call, timeoutMs);
      return source.client;
    }
    if (source.sentinels.length > 0) return open(openBySentinels(source.url, source.sentinels, timeoutMs));
    const urls = [source.url, ...source.nodes];
    if (urls.length > 1) return open(openCluster(urls, timeoutMs));
    const single = await open(openSingle(source.url, timeoutMs));
    if (!(await inTime(call, isClusterNode(single)))) return single;
    opened.splice(opened.indexOf(single), 1);
    single.disconnect();
    return open(openCluster(urls, timeoutMs));
  };
  let address = "url" in options.source ? new URL(options.source.url).host : addressOf(options.source.client);
  try {
    const client = await connect();
    address = addressOf(client);
    const port = createClientPort(client, timeoutMs);
    if (waitReplicas === undefined) return { client, port, close };
    // Waiting holds up all that comes after it on a connection.
    const writer = isCluster(client)
      ? client.duplicate([], { lazyConnect: true })
      : client.duplicate({ lazyConnect: true });
    writer.on("error", () => {});
    await open(writer);
    return { client, port: withReplicas(port, createClientPort(writer, timeoutMs), writer, waitReplicas), close };
  } catch (error) {
    close();
    throw toError(error, address, "open");
  }
};

/** Sends what is durable through a client of its own, and then waits until enough replicas have it. */
const withReplicas = (
  port: RedisPort,
  writing: RedisPort,
  writer: RedisClient,
  { count, timeoutMs }: Required<WaitReplicas>,
): RedisPort => ({
  send: async (call, ...stages) => {
    if (!call.isDurable || stages.every((stage) => stage.length === 0)) return port.send(call, ...stages);
    const replies = await writing.send(call, ...stages);
    const address = addressOf(writer);
    try {
      // A master that was sent nothing has nothing to wait for.
      const masters = isCluster(writer) ? writer.nodes("master") : [writer];
      const reached = await inTime(call, Promise.all(masters.map((master) => master.wait(count, timeoutMs))));
      if (Math.min(...reached) >= count) return replies;
      const message = `Redis at ${address} has written it, but only ${Math.min(...reached)} of ${count} replicas acknowledged it within ${timeoutMs} ms`;
      throw new BridgeError("unavailable", message, { operation: call.operation });
    } catch (error) {
      throw toError(error, address, call.operation);
    }
  },
});
