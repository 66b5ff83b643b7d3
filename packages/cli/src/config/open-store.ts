import { type CreateStore, isBridgeError, type TaskStore } from "@taskbridge/core/store";
import { CliError, exitCodes } from "../cli-error.ts";
import type { Config } from "./config.ts";
import { importPackage } from "./import-package.ts";

/** The packages that exist, by the scheme of `store`. */
const packages: Readonly<Record<string, string>> = {
  sqlite: "@taskbridge/store-sqlite",
  redis: "@taskbridge/store-redis",
  rediss: "@taskbridge/store-redis",
  postgres: "@taskbridge/store-postgres",
  postgresql: "@taskbridge/store-postgres",
};

const forms = "memory:, sqlite:PATH, redis://HOST or postgres://HOST/DATABASE";

/** Throws a ConfigError when `store` names none that exists. Opens nothing. */
export const checkStoreUrl = ({ store, fault }: Config): void => {
  // The rest of the text may hold a password.
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(store.url) ?? [];
  const isMemory = scheme === "memory" && rest === "";
  if (!isMemory && (scheme === undefined || !Object.hasOwn(packages, scheme) || rest === "")) {
    const got = scheme === undefined ? "text without a scheme" : `"${scheme}:${rest === "" ? "" : "…"}"`;
    throw fault(store.path, `must be ${forms}, got ${got}`);
  }
  const [unknown] = isMemory ? Object.keys(store.options) : [];
  if (unknown !== undefined) throw fault(["store", unknown], "memory: has no options");
};

/** Whether servers on other hosts can open the same. */
export const isSharedStore = (url: string): boolean => !/^(memory|sqlite):/.test(url);

/** The package of the configured store; undefined for `memory:`. Throws a ConfigError where it cannot be had. Opens nothing. */
export const loadStorePackage = async (
  config: Config,
): Promise<{ readonly createStore: CreateStore; readonly isShared: boolean } | undefined> => {
  checkStoreUrl(config);
  const { url, path } = config.store;
  const scheme = url.slice(0, url.indexOf(":"));
  if (scheme === "memory") return undefined;
  const name = packages[scheme] as string;
  const outcome = await importPackage([name], config.directory, `npm install ${name}`);
  if ("fault" in outcome) throw config.fault(path, outcome.fault);
  return { createStore: outcome.exports["createStore"] as CreateStore, isShared: isSharedStore(url) };
};

/**
 * Rejects with a ConfigError for a store that the configuration can never open, and with a `CliError` that names it for one that is
 * away: the same command may work in a moment.
 */
export const openStore = async (config: Config): Promise<TaskStore> => {
  const loaded = await loadStorePackage(config);
  if (loaded === undefined) return (await import("@taskbridge/core/memory")).memoryStore();
  const { url, path, options } = config.store;
  try {
    return await loaded.createStore(url, { baseDirectory: config.directory, options });
  } catch (error) {
    const placed = config.rebase(error, isAboutUrl(error) ? path : ["store"]);
    if (!isBridgeError(error) || error.code !== "unavailable") throw placed;
    throw new CliError(placed.message, exitCodes.failed, { code: error.code, cause: error });
  }
};

/** Whether an error names no option of its own. */
const isAboutUrl = (error: unknown): boolean => isBridgeError(error) && error.data?.["path"] === undefined;
