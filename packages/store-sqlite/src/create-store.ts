import { resolve } from "node:path";
import { BridgeError, type CreateStore, refuseOtherMembers } from "@taskbridge/core/store";
import { type SqliteStoreOptions, sqliteStore } from "./sqlite-store.ts";

/** What a configuration may say beside the URL. */
export const configOptions: readonly string[] = ["lockTimeoutMs", "maxBytes"];

/**
 * Opens `sqlite:PATH`; a relative path is relative to `baseDirectory`. `options` may hold `lockTimeoutMs` and `maxBytes`. Rejects with
 * `misconfigured` for any other text or option.
 */
export const createStore: CreateStore = async (url, { baseDirectory, options = {} }) => {
  refuseOtherMembers(options, configOptions, "", "a SQLite store has no such option");
  const path = /^sqlite:(?!\/\/[^/])(.+)$/s.exec(url)?.[1];
  if (path === undefined) {
    throw new BridgeError("misconfigured", `a SQLite store is written sqlite:PATH, got ${JSON.stringify(url)}`);
  }
  const file = path === ":memory:" ? path : resolve(baseDirectory, path);
  return sqliteStore({ ...(options as Partial<SqliteStoreOptions>), path: file });
};
