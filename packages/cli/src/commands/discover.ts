import type { WorkflowAdapter } from "@taskbridge/core/adapter";
import { exitCodes, usageError } from "../cli-error.ts";
import { closeAfter } from "../close-after.ts";
import { chooseConfig } from "../config/choose-config.ts";
import { closestName } from "../config/closest-name.ts";
import type { Config } from "../config/config.ts";
import { loadPipelines } from "../config/load-pipelines.ts";
import { openConfig } from "../config/open-config.ts";
import { formatPipelines } from "../discovery/format-pipelines.ts";
import {
  type ListingAdapter,
  listPipelines,
  maxListedPipelines,
  type PipelineList,
} from "../discovery/list-pipelines.ts";
import { type AdapterPipeline, toToolEntries } from "../discovery/to-tool-entries.ts";
import { printText } from "../terminal/follow-task.ts";
import { formatDocument } from "../terminal/format-task.ts";
import { interruption } from "../terminal/interruption.ts";
import { safeText } from "../terminal/safe-text.ts";

export interface DiscoverFlags {
  readonly config?: string;
  readonly adapter?: string;
  readonly filter?: string;
  readonly json?: boolean;
}

interface NamedList extends PipelineList {
  readonly adapter: string;
}

/**
 * Lists the pipelines that exist in the backends of a configuration. Touches neither its store nor any task. Resolves with
 * 1 when a backend could not tell all of its own, with 130 when interrupted; what was found is printed all the same.
 */
export const discover = async (flags: DiscoverFlags): Promise<number> => {
  const config = openConfig(chooseConfig(flags.config));
  const names = chooseAdapters(config, flags.adapter);
  const { signal, dispose } = interruption();
  try {
    const { adapters } = await loadPipelines(config);
    const list = async (): Promise<number> => {
      const lists = await listAll(config, adapters, names, flags, signal);
      printFound(config, lists, flags.json ?? false);
      return reportOutcome(config, lists, flags, signal);
    };
    return await closeAfter(list, () => Promise.all(Object.values(adapters).map((adapter) => adapter.close?.())));
  } finally {
    dispose();
  }
};

const chooseAdapters = ({ file, adapters }: Config, given: string | undefined): readonly string[] => {
  const known = Object.keys(adapters);
  if (given === undefined) return known;
  if (known.includes(given)) return [given];
  const meant = closestName(given, known);
  const hint = meant === undefined ? `known: ${known.join(", ")}` : `did you mean ${meant}?`;
  throw usageError(`--adapter: there is no adapter "${given}" in ${file}; ${hint}`);
};

/** All at once: one that is slow holds up no other. In the order of the names. */
const listAll = async (
  config: Config,
  adapters: Readonly<Record<string, WorkflowAdapter>>,
  names: readonly string[],
  { filter }: DiscoverFlags,
  signal: AbortSignal,
): Promise<NamedList[]> => {
  const listing = names.flatMap((name) => {
    const adapter = adapters[name] as WorkflowAdapter;
    if (canList(adapter)) return [{ name, adapter }];
    notify(`adapters.${name}: the adapter ${adapter.kind} cannot list pipelines`);
    return [];
  });
  return Promise.all(
    listing.map(async ({ name, adapter }) => ({
      adapter: name,
      ...(await listPipelines(adapter, {
        ...(filter === undefined ? {} : { filter }),
        tools: config.tools.filter((tool) => tool.adapter === name),
        signal,
        log: (level, message) => {
          if (level === "warn" || level === "error") notify(`adapters.${name}: ${message}`);
        },
      })),
    })),
  );
};

const canList = (adapter: WorkflowAdapter): adapter is ListingAdapter => adapter.discover !== undefined;

const printFound = ({ tools }: Config, lists: readonly NamedList[], json: boolean): void => {
  const found = lists.flatMap(({ adapter, pipelines }) =>
    pipelines.map((pipeline): AdapterPipeline => ({ ...pipeline, adapter })),
  );
  const configuredNames = tools.map(({ name }) => name);
  if (json) printText(formatDocument(toToolEntries(found, configuredNames)));
  else if (found.length > 0) printText(formatPipelines(found));
};

/** Says what the list is not. Returns the exit code. */
const reportOutcome = (
  config: Config,
  lists: readonly NamedList[],
  { filter, json }: DiscoverFlags,
  { aborted }: AbortSignal,
): number => {
  for (const { adapter, isCut } of lists) {
    if (isCut)
      notify(`adapters.${adapter}: only the first ${maxListedPipelines} pipelines are listed; --filter lists fewer`);
  }
  const failed = lists.filter((list) => "failure" in list);
  for (const { adapter, failure } of failed) notify(config.rebase(failure, ["adapters", adapter]).message);
  if (aborted) {
    notify("Interrupted: the list is not complete.");
    return exitCodes.interrupted;
  }
  if (failed.length > 0) return exitCodes.failed;
  if (!json && lists.every(({ pipelines }) => pipelines.length === 0)) {
    notify(
      filter === undefined
        ? "No pipelines were found."
        : `No pipelines were found for the filter ${JSON.stringify(filter)}.`,
    );
  }
  return exitCodes.completed;
};

const notify = (line: string): void => {
  process.stderr.write(`${safeText(line)}\n`);
};
