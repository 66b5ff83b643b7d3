import { BridgeError } from "@taskbridge/core/store";
import type { WaitReplicas } from "../parse-options.ts";
import { inTime } from "./client-port.ts";
import { addressOf, isCluster, type RedisClient } from "./redis-client.ts";
import type { RedisPort } from "./redis-port.ts";
import { toError } from "./to-error.ts";

/** Sends what is durable through a client of its own, and then waits until enough replicas have it. */
export const withReplicas = (
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
