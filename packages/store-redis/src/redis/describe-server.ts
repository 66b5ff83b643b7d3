import type { StoreDescription } from "@taskbridge/core/store";
import type { ParsedOptions } from "../parse-options.ts";
import { addressOf, isCluster, type RedisClient } from "./redis-client.ts";

const factOf = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];

/** `INFO` and `CONFIG` may be forbidden, as managed servers do: then less is told. */
export const describeServer = async (
  client: RedisClient,
  { prefix, waitReplicas }: Pick<ParsedOptions, "prefix" | "waitReplicas">,
): Promise<StoreDescription> => {
  const one = isCluster(client) ? (client.nodes("master")[0] ?? client) : client;
  // Whether it answers at all is not passed over.
  await one.ping();
  const [info, settings] = await Promise.all([
    one.info().catch(() => ""),
    isCluster(one) ? [] : (one.config("GET", "appendfsync") as Promise<string[]>).catch(() => []),
  ]);
  const appends = factOf(info, "aof_enabled");
  const [, synced] = settings;
  const database = isCluster(client) ? undefined : String(client.options.db ?? 0);
  return {
    kind: kindOf(info, isCluster(client)),
    place: addressOf(client).replace(/\/\d+$/, ""),
    ...(database === undefined ? {} : { database }),
    namespace: `prefix ${prefix}`,
    ...toDurability(appends, synced, waitReplicas?.count),
  };
};

const kindOf = (info: string, isInCluster: boolean): string => {
  const valkey = factOf(info, "valkey_version");
  const version = valkey ?? factOf(info, "redis_version");
  const name = valkey === undefined ? "Redis" : "Valkey";
  return `${name}${version === undefined ? "" : ` ${version}`}${isInCluster ? " Cluster" : ""}`;
};

/** What an acknowledged write survives, as the README has it. */
const toDurability = (
  appends: string | undefined,
  synced: string | undefined,
  replicas: number | undefined,
): Pick<StoreDescription, "durability" | "mayLose"> => {
  if (appends === undefined) return {};
  const waits = replicas === undefined ? "" : `, waitReplicas ${replicas}`;
  if (appends !== "1") {
    const mayLose = "appendonly is no: when Redis ends, all since its last snapshot is lost; set appendonly yes";
    return { durability: `appendonly no${waits}`, mayLose };
  }
  const durability = `appendonly yes, appendfsync ${synced ?? "not told"}${waits}`;
  if (synced === undefined || synced === "always") return { durability };
  const lost = synced === "everysec" ? "the last second or two" : "what the system had not written yet";
  return { durability, mayLose: `appendfsync is ${synced}: when its machine crashes, ${lost} is lost` };
};
