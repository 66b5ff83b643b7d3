import { type AuditEvent, createTaskEngine, type Limits, type TaskEngine } from "@taskbridge/core";
import type { TaskStore } from "@taskbridge/core/store";
import type { Config } from "./config.ts";
import { loadPipelines, type Pipelines } from "./load-pipelines.ts";
import { openStore } from "./open-store.ts";

export interface OpenEngine {
  readonly engine: TaskEngine;
  /** Ends what the engine has begun, then closes adapters and store. */
  close(): Promise<void>;
}

/** An engine over the configuration's own store and adapters. It does nothing by itself until it is opened. */
export const openEngine = async (config: Config, audit?: (event: AuditEvent) => void): Promise<OpenEngine> => {
  const pipelines = await loadPipelines(config);
  const store = await openStore(config);
  try {
    const engine = buildEngine(config, pipelines, store, audit);
    return { engine, close: () => closeAll(engine, pipelines, store) };
  } catch (error) {
    await closeAll(undefined, pipelines, store);
    throw error;
  }
};

/** Compiles the schemas of all tools. Throws a ConfigError about the place of the fault. */
export const buildEngine = (
  config: Config,
  { adapters, tools }: Pipelines,
  store: TaskStore,
  audit?: (event: AuditEvent) => void,
): TaskEngine => {
  try {
    const limits = toLimits(config);
    return createTaskEngine({ store, adapters, tools, limits, ...(audit === undefined ? {} : { audit }) });
  } catch (error) {
    throw config.rebase(error, []);
  }
};

/** The engine's names for the limits of a configuration. */
export const toLimits = ({ limits: configured }: Config): Partial<Limits> => {
  const { maxBodyBytes, maxWaits, maxWaitsPerOwner, maxSessions, maxSessionsPerOwner, sessionIdleMs, ...limits } =
    configured;
  return maxBodyBytes === undefined ? limits : { ...limits, maxInputBytes: maxBodyBytes };
};

const closeAll = async (engine: TaskEngine | undefined, { adapters }: Pipelines, store: TaskStore): Promise<void> => {
  await engine?.close();
  await Promise.all(Object.values(adapters).map((adapter) => adapter.close?.()));
  await store.close();
};
