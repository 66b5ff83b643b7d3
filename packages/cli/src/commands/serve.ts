import { hostname } from "node:os";
import { resolve } from "node:path";
import { isBridgeError } from "@taskbridge/core";
import { createTaskServer, isLoopback, type TaskServer, tokenFile } from "@taskbridge/server";
import { exitCodes, usageError } from "../cli-error.ts";
import { chooseConfig } from "../config/choose-config.ts";
import type { Config } from "../config/config.ts";
import { loadPipelines } from "../config/load-pipelines.ts";
import { openConfig } from "../config/open-config.ts";
import { toLimits } from "../config/open-engine.ts";
import { isSharedStore, openStore } from "../config/open-store.ts";
import { requireBackends } from "../config/require-backends.ts";
import { toServeError } from "../config/to-serve-error.ts";
import { auditLog } from "../terminal/audit-log.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { createLogger } from "../terminal/logger.ts";
import { version } from "../version.ts";

export interface ServeFlags {
  readonly config?: string;
  readonly stdio?: boolean;
  readonly port?: number;
  readonly host?: string;
}

/** Serves until a signal ends it, or, on stdio, until the client goes. Resolves with the exit code. */
export const serve = async (flags: ServeFlags): Promise<number> => {
  const config = openConfig(chooseConfig(flags.config));
  const { stopped, dispose } = stopSignal();
  const log = createLogger(config.redact, instanceOf(config));
  try {
    const server = await openServer(config, log);
    try {
      if (flags.stdio) await serveStdio(server, log, stopped);
      else await server.close({ drainMs: await serveHttp(server, config, flags, log, stopped) });
    } finally {
      await server.close();
    }
  } finally {
    dispose();
  }
  log.info("stopped");
  return exitCodes.completed;
};

/** Where several servers share a store their logs often end up in one place: which of them says it. */
const instanceOf = ({ server, store }: Config): string | undefined =>
  server.instance ?? (isSharedStore(store.url) ? `${hostname()}:${process.pid}` : undefined);

type Log = ReturnType<typeof createLogger>;

const openServer = async (config: Config, log: Log): Promise<TaskServer> => {
  const {
    name = "taskbridge",
    instructions,
    wires,
    legacyErrorStatus,
    companions,
    allowModelAnswers,
    waitMs,
    auth,
    stateKey,
  } = config.server;
  const pipelines = await loadPipelines(config);
  const { adapters, tools } = pipelines;
  const letGo = (): Promise<unknown> => Promise.all(Object.values(adapters).map((adapter) => adapter.close?.()));
  const store = await requireBackends(config, pipelines, (message) => log.warn(message))
    .then(() => openStore(config))
    .catch(async (error: unknown) => {
      await letGo();
      throw error;
    });
  try {
    return await createTaskServer({
      name,
      version,
      store,
      adapters,
      tools,
      limits: { ...config.limits, ...toLimits(config) },
      ...(instructions === undefined ? {} : { instructions }),
      ...(wires === undefined ? {} : { wires }),
      ...(legacyErrorStatus === undefined ? {} : { legacyErrorStatus }),
      ...(companions === undefined ? {} : { companions }),
      ...(allowModelAnswers === undefined ? {} : { allowModelAnswers }),
      ...(waitMs === undefined ? {} : { waitMs }),
      ...(auth === undefined ? {} : { auth: tokenFile(resolve(config.directory, auth.tokens)) }),
      ...(stateKey === undefined ? {} : { stateKey }),
      log,
      audit: auditLog(log),
    });
  } catch (error) {
    await letGo();
    await store.close();
    throw toServeError(config, error);
  }
};

const serveStdio = async (server: TaskServer, log: Log, stopped: Promise<string>): Promise<void> => {
  const ended = server.serveStdio().then(() => "the client has gone");
  log.info("serving on stdio");
  log.info(`stopping: ${await Promise.race([stopped, ended])}`);
};

/** Resolves with how long to drain (milliseconds). */
const serveHttp = async (
  server: TaskServer,
  config: Config,
  flags: ServeFlags,
  log: Log,
  stopped: Promise<string>,
): Promise<number> => {
  const {
    host = "127.0.0.1",
    port = 3000,
    path = "/mcp",
    allowedHosts = [],
    allowedOrigins = [],
  } = config.server.http ?? {};
  const address = { host: flags.host ?? host, port: flags.port ?? port };
  await server.listen({ ...address, path, allowedHosts, allowedOrigins }).catch((error: unknown) => {
    throw toListenError(config, error, address, flags);
  });
  const signal = await stopped;
  log.info(`stopping: ${signal}`);
  // A person who presses Ctrl-C has nobody else to serve.
  if (signal === "SIGINT" && isInteractive()) return 0;
  return config.server.drainMs ?? (isLoopback(address.host) ? 0 : publicDrainMs);
};

/** What balancers commonly need to notice that a server is not ready, or is taken out of their list. */
const publicDrainMs = 5_000;

/** Told of the flag, where what is at fault was given as one, else at its place in the file. */
const toListenError = (
  config: Config,
  error: unknown,
  { host, port }: { host: string; port: number },
  flags: ServeFlags,
): unknown => {
  if (!isBridgeError(error)) return error;
  const { path, reason } = error.data ?? {};
  const flag = (path === "port" || path === "host") && flags[path] !== undefined ? path : undefined;
  const isTaken = reason === "EADDRINUSE";
  const taken = `${host}:${port} is in use by another program; choose another`;
  if (flag !== undefined) return usageError(`--${flag}: ${isTaken ? taken : error.message.replace(`${flag}: `, "")}`);
  if (!isTaken) return toServeError(config, error);
  return config.fault(["server", "http", "port"], `${taken} here or with --port`);
};

/** `stopped` resolves with the first signal that asks to stop; the second ends the process at once. */
const stopSignal = (): { stopped: Promise<string>; dispose: () => void } => {
  let onSignal = (_signal: NodeJS.Signals): void => {};
  const stopped = new Promise<string>((resolve) => {
    let stopping = false;
    onSignal = (signal) => {
      if (stopping) process.exit(exitCodes.interrupted);
      stopping = true;
      resolve(signal);
    };
  });
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return { stopped, dispose: () => void process.off("SIGINT", onSignal).off("SIGTERM", onSignal) };
};
