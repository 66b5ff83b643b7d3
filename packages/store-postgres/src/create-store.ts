import { BridgeError, type CreateStore, refuseOtherMembers } from "@taskbridge/core/store";
import { postgresStore } from "./postgres-store.ts";
import { isPostgresUrl, type PostgresStoreOptions } from "./store-options.ts";

/** What a configuration may say beside the URL. */
export const configOptions: readonly string[] = ["directUrl", "schema", "maxConnections", "operationTimeoutMs"];

/**
 * Opens `postgres://…` or `postgresql://…`. `options` may hold `directUrl`, `schema`, `maxConnections` and
 * `operationTimeoutMs`. Rejects with `misconfigured` for any other text or option.
 */
export const createStore: CreateStore = async (url, { options = {} }) => {
  if (!isPostgresUrl(url)) {
    throw new BridgeError("misconfigured", "a PostgreSQL store is written postgres://USER@HOST:PORT/DATABASE");
  }
  refuseOtherMembers(options, configOptions, "", "unknown option of a PostgreSQL store");
  return postgresStore({ ...(options as PostgresStoreOptions), url });
};
