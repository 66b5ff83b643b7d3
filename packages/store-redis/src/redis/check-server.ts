import { BridgeError } from "@taskbridge/core/store";
import { loadScript } from "./load-script.ts";
import { isCluster, type RedisClient } from "./redis-client.ts";
import type { Call, RedisPort } from "./redis-port.ts";

/** Raised with each change that others must know of. */
const version = 2;
/** The oldest version that may still work with what this one writes. */
const readableBy = 2;
/** The oldest version whose store this one can work with: those before it were never released. */
const minVersion = 2;

/** What stands in the store about itself. */
interface SchemaMarker {
  readonly version: number;
  readonly readableBy: number;
}

const markScript = loadScript("mark-schema");

/**
 * Two versions share a store during a deployment, as long as the newer one says that the older one may. Rejects with `misconfigured`
 * for what a newer version has changed beyond that, and for what is not ours.
 */
export const checkSchema = async (port: RedisPort, call: Call, key: string, address: string): Promise<void> => {
  const ours = JSON.stringify({ version, readableBy } satisfies SchemaMarker);
  let [kept] = await port.send(call, [{ call: ["get", key] }]);
  while (kept !== ours) {
    const marker = typeof kept === "string" ? parseMarker(kept, key, address) : undefined;
    if (marker !== undefined && marker.readableBy > version) {
      const message = `Redis at ${address} holds a store of schema ${marker.version}, readable by ${marker.readableBy} and later; this version knows ${version}`;
      throw new BridgeError("misconfigured", message, { operation: "open" });
    }
    if (marker !== undefined && marker.version < minVersion) {
      const message = `Redis at ${address} holds a store of the earlier schema ${marker.version}, which this version cannot read: start anew with another prefix`;
      throw new BridgeError("misconfigured", message, { operation: "open" });
    }
    if (marker !== undefined && marker.version >= version) return;
    [kept] = await port.send(call, [{ script: markScript, keys: [key], args: [String(kept ?? ""), ours] }]);
  }
};

const parseMarker = (text: string, key: string, address: string): SchemaMarker => {
  const isNumber = (value: unknown): value is number => typeof value === "number";
  try {
    const { version, readableBy } = JSON.parse(text) as Record<string, unknown>;
    if (isNumber(version) && isNumber(readableBy)) return { version, readableBy };
  } catch {
    // Not JSON: not ours, as below.
  }
  throw new BridgeError("misconfigured", `Redis at ${address}: ${key} is not ours; choose another prefix`, {
    operation: "open",
  });
};

/**
 * Rejects with `misconfigured` where Redis may evict any key when memory is short: records would vanish. Where the server does
 * not tell, as some managed ones do not, nothing is checked.
 */
export const checkEviction = async (client: RedisClient, address: string): Promise<void> => {
  const masters = isCluster(client) ? client.nodes("master") : [client];
  const infos = await Promise.all(masters.map((node) => node.info("memory").catch(() => "")));
  const policies = infos.map((info) => /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? "");
  const evicting = policies.find((policy) => policy.startsWith("allkeys-"));
  if (evicting === undefined) return;
  const message = `Redis at ${address} evicts any key when memory is short (maxmemory-policy ${evicting}); set maxmemory-policy noeviction`;
  throw new BridgeError("misconfigured", message, { operation: "open" });
};

/** Whether a server is a node of a cluster. False where it does not tell. */
export const isClusterNode = async (client: RedisClient): Promise<boolean> => {
  if (isCluster(client)) return true;
  const info = await client.info("cluster").catch(() => "");
  return /^cluster_enabled:1/m.test(info);
};

/**
 * Rejects with `misconfigured` for a database that the server does not have: ioredis connects nevertheless, and works on database
 * 0, where another environment's store may be.
 */
export const checkDatabase = async (client: RedisClient, address: string): Promise<void> => {
  if (isCluster(client) || !client.options.db) return;
  try {
    await client.select(client.options.db);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Anything else than its own refusal is told by what comes next.
    if (!/DB index|invalid DB/i.test(message)) return;
    throw new BridgeError("misconfigured", `Redis at ${address} has no such database (${message})`, {
      operation: "open",
    });
  }
};
