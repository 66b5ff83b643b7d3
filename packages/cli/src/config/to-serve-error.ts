import { isBridgeError } from "@taskbridge/core";
import type { Config } from "./config.ts";
import { parsePath } from "./config-path.ts";

/** Options of the server that stand under `server` in a configuration, by the same names. */
const serverOptions: ReadonlySet<unknown> = new Set<keyof Config["server"]>([
  "name",
  "instructions",
  "wires",
  "legacyErrorStatus",
  "companions",
  "allowModelAnswers",
  "waitMs",
  "auth",
  "stateKey",
]);

/** Where to listen, by the names that the server knows it by. */
const listenOptions: ReadonlySet<unknown> = new Set(["host", "port", "path", "allowedHosts", "allowedOrigins"]);

/** What starting the server has thrown, told at its place in the file. Other errors than wrong options are given back. */
export const toServeError = (config: Config, error: unknown): unknown => {
  if (!isBridgeError(error) || error.code !== "misconfigured") return error;
  const [option] = parsePath(String(error.data?.["path"] ?? ""));
  if (listenOptions.has(option)) return config.rebase(error, ["server", "http"]);
  return config.rebase(error, serverOptions.has(option) ? ["server"] : []);
};
