import { resolve } from "node:path";
import { BridgeError, type CreateStore } from "@taskbridge/core/store";
import { sqliteStore } from "./sqlite-store.ts";

/** Opens `sqlite:PATH`; a relative path is relative to `baseDirectory`. Rejects with `misconfigured` for any other text. */
export const createStore: CreateStore = async (url, { baseDirectory, options = {} }) => {
  const [unknown] = Object.keys(options);
  if (unknown !== undefined)
    throw new BridgeError("misconfigured", `${unknown}: a SQLite store has no such option`, {
      data: { path: unknown },
    });
  const path = /^sqlite:(?!\/\/[^/])(.+)$/s.exec(url)?.[1];
  if (path === undefined) {
    throw new BridgeError("misconfigured", `a SQLite store is written sqlite:PATH, got ${JSON.stringify(url)}`);
  }
  return sqliteStore({ path: path === ":memory:" ? path : resolve(baseDirectory, path) });
};
