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
  const replicas = factOf(info, "connected_slaves");
  const [, synced] = settings;
  const database = isCluster(client) ? undefined : String(client.options.db ?? 0);
  return {
    kind: kindOf(info, isCluster(client)),
    location: addressOf(client).replace(/\/\d+$/, ""),
    ...(database === undefined ? {} : { database }),
    namespace: `prefix ${prefix}`,
    ...toDurability(appends, synced),
    ...tooFewReplicas(waitReplicas?.count ?? 0, Number(replicas)),
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
): Pick<StoreDescription, "durability" | "warning"> => {
  if (appends === undefined) return {};
  if (appends !== "1") {
    const warning = "appendonly is no: when Redis ends, all since its last snapshot is lost; set appendonly yes";
    return { durability: "appendonly no", warning };
  }
  const durability = `appendonly yes, appendfsync ${synced ?? "not told"}`;
  if (synced === undefined || synced === "always") return { durability };
  const lost = synced === "everysec" ? "the last second or two" : "what the system had not written yet";
  return { durability, warning: `appendfsync is ${synced}: when its machine crashes, ${lost} is lost` };
};

/** Nothing else shows it before the first task is to be kept. */
const tooFewReplicas = (wanted: number, connected: number): Pick<StoreDescription, "warning"> =>
  connected < wanted
    ? { warning: `waitReplicas.count is ${wanted}, and ${connected} replicas are connected: no task can be kept` }
    : {};
