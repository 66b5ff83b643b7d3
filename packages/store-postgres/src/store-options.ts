import { misconfigured, showValue } from "@taskbridge/core/store";
import type { Pool } from "pg";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`; what it leaves out comes from `PGHOST`, `PGPASSWORD` and so on. This or `pool`. */
  readonly url?: string;
  /** A pool of your own, which the store does not close. */
  readonly pool?: Pool;
  /** The server itself, where `url` or `pool` leads to it through a pooler (PgBouncer), for the one connection that hears of changes. */
  readonly directUrl?: string;
  /** The schema that holds the tables, created if need be: a lower-case name. Default `taskbridge`. */
  readonly schema?: string;
  /** The most connections at a time, beside the one that hears of changes. Default 10. Not with `pool`. */
  readonly maxConnections?: number;
  /** Milliseconds after which a call that the server has not answered rejects with `unavailable`. Default 5000. */
  readonly operationTimeoutMs?: number;
  /** What the time between two looks at the server's clock is measured by; for tests. Default: the process's own. */
  readonly clock?: { now(): number };
}

/** Throws `misconfigured`, naming the option. */
export const assertOptions = (options: PostgresStoreOptions): void => {
  const { url, pool, directUrl, schema, maxConnections, operationTimeoutMs } = options;
  if ((url === undefined) === (pool === undefined))
    throw misconfigured("", "one of url and pool must be given, and not both");
  // Not shown: it may hold a password.
  for (const [name, value] of Object.entries({ url, directUrl }))
    if (value !== undefined && !isPostgresUrl(value))
      throw misconfigured(name, "must be a URL that begins with postgres://");
  // What is longer would be cut in names that are made from it.
  if (schema !== undefined && !(typeof schema === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,47}$/.test(schema)))
    throw misconfigured(
      "schema",
      `must be at most 48 of a-z, 0-9 and _, and not begin with a digit or pg_, got ${showValue(schema)}`,
    );
  for (const [name, value] of Object.entries({ maxConnections, operationTimeoutMs }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw misconfigured(name, `must be a whole number from 1, got ${showValue(value)}`);
  if (pool !== undefined && maxConnections !== undefined)
    throw misconfigured("maxConnections", "is the pool's own matter when pool is given");
};

/** A password with one of these as it is would be taken for the end of host and port, which messages show. */
export const isCutShort = (url: string): boolean => url.includes("#") || /^\w+:\/\/[^@/?]*[/?][^=]*@/.test(url);

export const isPostgresUrl = (text: unknown): boolean => typeof text === "string" && /^postgres(ql)?:\/\//.test(text);
