import type { ToolDefinition } from "@taskbridge/core";
import type { CreateAdapter, WorkflowAdapter } from "@taskbridge/core/adapter";
import { closestName } from "./closest-name.ts";
import type { AdapterEntry, Config, ToolEntry } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { importPackage } from "./import-package.ts";

/** What a configuration describes, ready for an engine. Nothing has been touched yet: adapters connect when used. */
export interface Pipelines {
  readonly adapters: Readonly<Record<string, WorkflowAdapter>>;
  readonly tools: readonly ToolDefinition[];
}

/** Loads every adapter and lets it check its options and the targets of its tools. Throws one ConfigError with all faults. */
export const loadPipelines = async (config: Config): Promise<Pipelines> => {
  const faults: ConfigError[] = [];
  const adapters = new Map<string, WorkflowAdapter>();
  for (const [name, entry] of Object.entries(config.adapters)) {
    await keepFault(faults, async () => {
      adapters.set(name, await loadAdapter(config, name, entry));
    });
  }
  for (const [index, tool] of config.tools.entries()) {
    await keepFault(faults, async () => checkTarget(config, index, tool, adapters.get(tool.adapter)));
  }
  if (faults.length > 0)
    throw new ConfigError(
      config.file,
      faults.flatMap((error) => error.faults),
    );
  return { adapters: Object.fromEntries(adapters), tools: config.tools.map(toDefinition) };
};

const keepFault = async (faults: ConfigError[], action: () => Promise<void>): Promise<void> => {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(error);
  }
};

/** The adapters that exist as `@taskbridge/adapter-…`. */
const ownAdapters: readonly string[] = ["bullmq", "cloud-workflows", "process", "step-functions"];

/** How to come by the adapter that was most likely meant. Undefined: it is somebody else's. */
const installHint = (use: string): string | undefined => {
  if (ownAdapters.includes(use)) return `npm install @taskbridge/adapter-${use}`;
  const meant = closestName(use, ownAdapters);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
};

const loadAdapter = async (
  config: Config,
  name: string,
  { use, ...options }: AdapterEntry,
): Promise<WorkflowAdapter> => {
  const path = ["adapters", name];
  // A scoped or relative name cannot be the last part of one of ours.
  const candidates = /^[a-z0-9][a-z0-9._-]*$/.test(use) ? [`@taskbridge/adapter-${use}`, use] : [use];
  const outcome = await importPackage(candidates, config.directory, installHint(use));
  if ("fault" in outcome) throw config.fault([...path, "use"], outcome.fault);
  const { createAdapter } = outcome.exports;
  if (typeof createAdapter !== "function") {
    const wanted = candidates[0] === outcome.name ? "" : `${candidates[0]} is not installed, and `;
    const message = `${wanted}${outcome.name} is no taskbridge adapter: it does not export createAdapter`;
    throw config.fault([...path, "use"], message);
  }
  try {
    return (createAdapter as CreateAdapter)(options, { baseDirectory: config.directory });
  } catch (error) {
    throw config.rebase(error, path);
  }
};

const checkTarget = (config: Config, index: number, tool: ToolEntry, adapter: WorkflowAdapter | undefined): void => {
  try {
    adapter?.parseTarget(tool.target);
  } catch (error) {
    throw config.rebase(error, ["tools", index, "target"]);
  }
};

const toDefinition = ({ task, ...tool }: ToolEntry): ToolDefinition => {
  if (task === undefined) return tool;
  const { dedupe, ...policy } = task;
  return { ...tool, task: dedupe?.windowMs === undefined ? policy : { ...policy, dedupeWindowMs: dedupe.windowMs } };
};
