import { misconfigured } from "@taskbridge/core/store";
import { Client, type ClientConfig, Pool, type PoolConfig } from "pg";
import { isCutShort, type PostgresStoreOptions } from "./store-options.ts";

/** How the server is reached. */
export interface Reached {
  readonly pool: Pool;
  readonly ownsPool: boolean;
  /** Host and port. */
  readonly address: string;
  /** For messages. */
  readonly location: string;
  /** For a connection of one's own to the server itself. */
  readonly direct: ClientConfig;
}

/** Before a load balancer or a firewall forgets of a silent connection. */
const keepAliveMs = 10_000;
/** After a failover behind one name, connections find their way in that time. */
const lifetimeSeconds = 600;

/** Connects to nothing yet. Throws `misconfigured` for a URL that is none. */
export const openPool = (options: PostgresStoreOptions, timeoutMs: number): Reached => {
  const { url, directUrl, pool: given, maxConnections = 10 } = options;
  const alive: ClientConfig = {
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    fallback_application_name: "taskbridge",
  };
  const config: PoolConfig = given?.options ?? {
    ...alive,
    connectionString: url ?? "",
    max: maxConnections,
    maxLifetimeSeconds: lifetimeSeconds,
    connectionTimeoutMillis: timeoutMs,
    // A pooler would refuse it or keep it to itself.
    ...(directUrl === undefined && { statement_timeout: timeoutMs }),
  };
  const { host, port, database } = readLocation(config, given === undefined ? "url" : "pool");
  const address = `${host}:${port}`;
  const direct = directUrl === undefined ? copyOf(config) : { ...alive, connectionString: directUrl };
  readLocation(direct, "directUrl");
  const location = `PostgreSQL at ${address}/${database}`;
  return { pool: given ?? new Pool(config), ownsPool: given === undefined, address, location, direct };
};

/** With the password, which a pool hides from those who merely spread its options. */
const copyOf = (config: PoolConfig): ClientConfig => ({
  ...config,
  ...(config.password !== undefined && { password: config.password }),
});

/** Of a client that connects to nothing. Throws `misconfigured` for a URL that is none. */
const readLocation = (config: ClientConfig, option: string): Pick<Client, "host" | "port" | "database"> => {
  const refused = misconfigured(option, "is no URL of a PostgreSQL server: is the password percent-encoded?");
  if (isCutShort(config.connectionString ?? "")) throw refused;
  try {
    return new Client(config);
  } catch {
    // Its own message would show the URL, password and all.
    throw refused;
  }
};
