import type { CreateStore, TaskStore } from "@taskbridge/core/store";
import type { Config } from "./config.ts";
import { importPackage } from "./import-package.ts";

/** The packages that exist, by the scheme of `store`. */
const packages: Readonly<Record<string, string>> = { sqlite: "@taskbridge/store-sqlite" };

/** Throws a ConfigError when `store` names none that exists. Opens nothing. */
export const checkStoreUrl = (config: Config): void => {
  const { store } = config;
  // The rest of the text may hold a password.
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(store) ?? [];
  if (scheme === "memory" && rest === "") return;
  if (scheme !== undefined && Object.hasOwn(packages, scheme) && rest !== "") return;
  const got = scheme === undefined ? "text without a scheme" : `"${scheme}:${rest === "" ? "" : "…"}"`;
  throw config.fault(["store"], `must be memory: or sqlite:PATH, got ${got}`);
};

export const openStore = async (config: Config): Promise<TaskStore> => {
  checkStoreUrl(config);
  const scheme = config.store.slice(0, config.store.indexOf(":"));
  if (scheme === "memory") return (await import("@taskbridge/core/memory")).memoryStore();
  const name = packages[scheme] as string;
  const outcome = await importPackage([name], config.directory, `npm install ${name}`);
  if ("fault" in outcome) throw config.fault(["store"], outcome.fault);
  const createStore = outcome.exports["createStore"] as CreateStore;
  try {
    return await createStore(config.store, { baseDirectory: config.directory });
  } catch (error) {
    throw config.rebase(error, ["store"]);
  }
};
