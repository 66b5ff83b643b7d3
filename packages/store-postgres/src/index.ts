export { createStore } from "./create-store.ts";
export { postgresStore } from "./postgres-store.ts";
export type { PostgresStoreOptions } from "./store-options.ts";
