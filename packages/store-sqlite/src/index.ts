export { createStore } from "./create-store.ts";
export { type SqliteStoreOptions, sqliteStore } from "./sqlite-store.ts";
