import { resolve } from "node:path";
import { memoryStore } from "@taskbridge/core/memory";
import { exitCodes } from "../cli-error.ts";
import { checkTemplates } from "../config/check-templates.ts";
import { chooseConfig } from "../config/choose-config.ts";
import type { Config } from "../config/config.ts";
import { loadPipelines } from "../config/load-pipelines.ts";
import { openConfig } from "../config/open-config.ts";
import { buildEngine } from "../config/open-engine.ts";
import { loadStorePackage } from "../config/open-store.ts";
import { requireBackends } from "../config/require-backends.ts";
import { printText } from "../terminal/follow-task.ts";
import { safeText } from "../terminal/safe-text.ts";

/**
 * Checks all that can be checked without touching anything: backends are asked, as at a start; the store is not opened, which
 * would make its tables. Throws a ConfigError.
 */
export const checkConfig = async (flags: { readonly config?: string }): Promise<number> => {
  const config = openConfig(chooseConfig(flags.config));
  checkTemplates(config);
  await checkTokens(config);
  const pipelines = await loadPipelines(config);
  const storePackage = await loadStorePackage(config);
  const engine = buildEngine(config, pipelines, { ...memoryStore(), shared: storePackage?.isShared === true });
  await engine.close();
  try {
    await requireBackends(config, pipelines, (message) =>
      process.stderr.write(safeText(config.redact(`warning: ${message}\n`))),
    );
  } finally {
    await Promise.all(Object.values(pipelines.adapters).map((adapter) => adapter.close?.()));
  }
  const tools = pipelines.tools.map(({ name }) => name);
  printText(`${config.file}: ok; tools: ${tools.join(", ")}; adapters: ${Object.keys(pipelines.adapters).join(", ")}`);
  return exitCodes.completed;
};

const checkTokens = async (config: Config): Promise<void> => {
  const { auth } = config.server;
  if (auth === undefined) return;
  const { tokenFile } = await import("@taskbridge/server");
  try {
    await tokenFile(resolve(config.directory, auth.tokens)).open?.();
  } catch (error) {
    throw config.rebase(error, ["server"]);
  }
};
