import { setMaxListeners } from "node:events";
import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import { BridgeError, createTaskEngine, misconfigured, systemClock, type TaskEngine } from "@taskbridge/core";
import { type OwnerPolicy, readOwner } from "./caller.ts";
import { createDrain, parseDrainMs } from "./health/drain.ts";
import { createReadiness } from "./health/readiness.ts";
import { createStoreProbe } from "./health/store-probe.ts";
import { isProbePath } from "./http/answer-probe.ts";
import { createHttpHandler, type HttpHandler } from "./http/http-handler.ts";
import { type HttpListener, listenHttp } from "./http/listen-http.ts";
import { isLoopback } from "./http/loopback.ts";
import type { ListenContext } from "./listen/open-subscription.ts";
import { chooseCompanions, narrowCompanions, parseCompanions } from "./mcp/companions-policy.ts";
import { createPollMemory } from "./mcp/poll-memory.ts";
import type { ServeContext } from "./mcp/serve-context.ts";
import { createToolCatalog } from "./mcp/tool-catalog.ts";
import { openStdio, type StdioConnection } from "./open-stdio.ts";
import { createOpenTaskFeed } from "./open-task-feed.ts";
import { createOwnerSlots } from "./owner-slots.ts";
import { parseWires } from "./parse-wires.ts";
import { refuse } from "./refuse.ts";
import { createReplicaMailbox } from "./replica-mailbox.ts";
import { requireOption } from "./require-option.ts";
import { createSealer } from "./sealer.ts";
import { splitLimits } from "./server-limits.ts";
import { silentLog } from "./server-log.ts";
import { openStateKeys, type StateKeys } from "./state-keys.ts";
import { drainServer, stopListener, stopServer } from "./stop-server.ts";
import { rememberInternals } from "./task-server-internals.ts";
import type { ListenOptions, TaskServer, TaskServerOptions } from "./task-server-options.ts";
import { requireOwners } from "./tasks-sep1686/require-owners.ts";

const defaultWaitMs = 30_000;
/** Hosts give a call up after 60 s, and the answer still has to travel. */
const maxWaitMs = 45_000;

/** Puts a server together and starts its engine. Rejects with `misconfigured` (`data.path`) for options that cannot work. */
export const createTaskServer = async (options: TaskServerOptions): Promise<TaskServer> => {
  const checked = checkOptions(options);
  const keys = await openStateKeys(options.store, options.stateKey);
  const engine = createEngine(options, checked.limits.engine);
  try {
    const server = assemble(options, { ...checked, keys, engine });
    await options.auth?.open?.();
    await engine.open();
    return server;
  } catch (error) {
    // It listens to the store, which is still its owner's.
    await engine
      .close()
      .catch((fault: unknown) => checked.log.error({ err: fault }, "the engine could not be stopped"));
    throw error;
  }
};

const checkOptions = (options: TaskServerOptions) => {
  const wires = parseWires(options.wires);
  if (options.auth === undefined && options.owners === "none") requireOwners(options.wires, 'owners is "none"');
  return {
    wires,
    limits: splitLimits(options.limits),
    waitMs: parseWaitMs(options.waitMs),
    keepAliveMs: parseKeepAliveMs(options.keepAliveMs),
    legacyErrorStatus: parseErrorStatus(options.legacyErrorStatus),
    companions: parseCompanions(options.companions),
    allowModelAnswers: options.allowModelAnswers ?? false,
    log: options.log ?? silentLog,
    clock: options.clock ?? systemClock,
  };
};

interface ServerParts extends ReturnType<typeof checkOptions> {
  readonly keys: StateKeys;
  readonly engine: TaskEngine;
}

const assemble = (options: TaskServerOptions, parts: ServerParts): TaskServer => {
  const { wires, limits, waitMs, keepAliveMs, legacyErrorStatus, allowModelAnswers, log, clock, keys, engine } = parts;
  const companions = narrowCompanions(parts.companions, engine.tools.values());
  const stopping = createStop();
  const sealer = createSealer(keys.sessions);
  const storeNow = (): number => options.store.now();
  const isShared = options.store.shared || options.store.watch !== undefined;
  const serve: ServeContext = {
    engine,
    catalog: createToolCatalog(
      engine.tools.values(),
      options.plainTools ?? [],
      chooseCompanions(companions, allowModelAnswers),
    ),
    identity: { name: options.name, version: options.version ?? "0.0.0" },
    instructions: options.instructions,
    wires,
    legacyErrorStatus,
    allowModelAnswers,
    companions,
    pollMemory: createPollMemory(clock),
    owners: options.owners,
    waitMs,
    clock,
    storeNow,
    log,
    stateCodec: createStateCodec(keys.requestState, prepareStateSeconds),
    taskStateCodec: createStateCodec(keys.requestState, taskStateSeconds),
    sealer,
    stopping: stopping.signal,
    calls: new Set(),
    waits: createOwnerSlots({
      what: "waits for results",
      perOwner: { name: "maxWaitsPerOwner", max: limits.wire.maxWaitsPerOwner },
      altogether: { name: "maxWaits", max: limits.wire.maxWaits },
    }),
    openTasks: createOpenTaskFeed({ engine, clock, log, isShared }),
    mailbox: createReplicaMailbox({ store: options.store, sealer, clock, storeNow, log, isShared }),
    asking: new Set(),
  };
  const context: ListenContext = {
    serve,
    slots: createOwnerSlots({
      what: "subscriptions",
      perOwner: { name: "maxListenStreamsPerOwner", max: limits.wire.maxListenStreamsPerOwner },
      altogether: { name: "maxListenStreams", max: limits.wire.maxListenStreams },
    }),
    limits: limits.wire,
    keepAliveMs,
  };
  const handlers = new Set<HttpHandler>();
  const listeners = new Set<HttpListener>();
  const connections = new Set<StdioConnection>();
  const openHandler = (policy: OwnerPolicy, stop: AbortSignal = stopping.signal): HttpHandler => {
    const handler = createHttpHandler(
      { ...context, serve: { ...serve, stopping: stop } },
      { policy, auth: options.auth },
    );
    handlers.add(handler);
    return handler;
  };
  const drain = createDrain();
  const readiness = createReadiness({
    engine,
    probe: createStoreProbe({ store: options.store, clock, log }),
    version: serve.identity.version,
    isDraining: () => drain.isOn() || stopping.signal.aborted,
  });
  let mounted: HttpHandler | undefined;
  let stopped: Promise<void> | undefined;
  const stop = async (drainMs: number): Promise<void> => {
    const parts = { serve, stopping, handlers, listeners, connections, options };
    if (drainMs > 0) {
      log.info({ drainMs }, "draining");
      await drainServer(parts, drain.run(drainMs));
    }
    await stopServer(parts);
  };

  const requireOpen = (): void => {
    if (stopped !== undefined) throw new BridgeError("unavailable", "the server was closed", { notSent: true });
  };
  const server: TaskServer = {
    engine,
    listen: async (listen = {}) => {
      requireOpen();
      const address = toAddress(listen);
      const policy = choosePolicy(options, address.host, listen.unsafePublic === true);
      if (options.auth === undefined && policy === "none") {
        requireOwners(options.wires, `nobody who can reach ${address.host} is verified`);
      }
      // A listener can be stopped alone, and its connections then close by our doing as well.
      const stop = createStop();
      const handler = openHandler(policy, stop.signal);
      const { maxBodyBytes } = limits.wire;
      const listener = await listenHttp(handler, address, { maxBodyBytes, log, readiness }).catch((error: unknown) => {
        handlers.delete(handler);
        throw error;
      });
      listeners.add(listener);
      const stopAlong = (): void => stop.abort();
      stopping.signal.addEventListener("abort", stopAlong, { once: true });
      log.info({ url: listener.url, owners: options.auth === undefined ? policy : "verified" }, "serving");
      return {
        url: listener.url,
        port: listener.port,
        close: async () => {
          stopping.signal.removeEventListener("abort", stopAlong);
          stop.abort();
          await stopListener(handler, listener);
          listeners.delete(listener);
          handlers.delete(handler);
        },
      };
    },
    serveStdio: async ({ transport } = {}) => {
      requireOpen();
      const connection = openStdio(context, transport);
      connections.add(connection);
      await connection.ended;
      connections.delete(connection);
    },
    fetch: (request, fetchOptions) => {
      if (stopping.signal.aborted)
        return Promise.resolve(refuse(503, "The server was closed", { retryAfterMs: 1_000 }));
      mounted ??= openHandler(options.owners ?? "none");
      return mounted.fetch(request, fetchOptions);
    },
    toolsChanged: () => {
      for (const handler of handlers) handler.toolsChanged();
    },
    readiness,
    close: async (closeOptions) => {
      const drainMs = parseDrainMs(closeOptions);
      if (drainMs === 0) drain.end();
      stopped ??= stop(drainMs);
      await stopped;
    },
  };
  return rememberInternals(server, {
    ...context,
    closeUnlessServing: () => {
      if (listeners.size + connections.size > 0 || mounted !== undefined) return;
      server.close().catch((error: unknown) => log.error({ err: error }, "the server could not be closed"));
    },
  });
};

/** Every call under way listens. */
const createStop = (): AbortController => {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
};

const createEngine = (
  options: TaskServerOptions,
  limits: Parameters<typeof createTaskEngine>[0]["limits"],
): TaskEngine =>
  createTaskEngine({
    store: options.store,
    adapters: options.adapters,
    tools: options.tools,
    ...(limits === undefined ? {} : { limits }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.randomBytes === undefined ? {} : { randomBytes: options.randomBytes }),
    ...(options.audit === undefined ? {} : { audit: options.audit }),
    ...(options.encryptionKey === undefined ? {} : { encryptionKey: options.encryptionKey }),
  });

/** What was asked before anything has started, and may be asked anew. */
const prepareStateSeconds = 600;
/** Of a task that runs: whoever called again without its state would start another, so that a person may take a day. */
const taskStateSeconds = 86_400;

/** A state is good for its caller alone. Whatever a codec has signed, each codec of the same key verifies. */
const createStateCodec = (key: Uint8Array, ttlSeconds: number): ServeContext["stateCodec"] => {
  const bind = ({ mcpReq, http }: ServerContext): string => `${mcpReq.method}|${readOwner(http?.authInfo, "none")}`;
  return createRequestStateCodec<unknown>({ key, ttlSeconds, bind });
};

const parseWaitMs = (waitMs = defaultWaitMs): number => {
  const isGood = Number.isSafeInteger(waitMs) && waitMs >= 0 && waitMs <= maxWaitMs;
  requireOption(isGood, "waitMs", `0 to ${maxWaitMs} is needed`, waitMs);
  return waitMs;
};

const parseErrorStatus = (status: "failed" | "completed" = "failed"): "failed" | "completed" => {
  const isGood = status === "failed" || status === "completed";
  requireOption(isGood, "legacyErrorStatus", 'it is "failed" or "completed"', status);
  return status;
};

const parseKeepAliveMs = (keepAliveMs = 15_000): number => {
  const isGood = Number.isSafeInteger(keepAliveMs) && keepAliveMs >= 1;
  requireOption(isGood, "keepAliveMs", "a whole number of at least 1 is needed", keepAliveMs);
  return keepAliveMs;
};

const toAddress = (listen: ListenOptions): Parameters<typeof listenHttp>[1] => {
  const { host = "127.0.0.1", port = 3000, path = "/mcp", allowedHosts = [], allowedOrigins = [] } = listen;
  requireOption(Number.isInteger(port) && port >= 0 && port <= 65_535, "port", "0 to 65535 is needed", port);
  requireOption(/^\/[^?#]*$/.test(path), "path", 'a path that begins with "/" is needed', path);
  requireOption(!isProbePath(path), "path", "another than those of the probes is needed", path);
  return { host, port, path, allowedHosts, allowedOrigins };
};

/** Strangers are never put together as one owner. */
const choosePolicy = ({ auth, owners }: TaskServerOptions, host: string, unsafePublic: boolean): OwnerPolicy => {
  if (auth !== undefined) return "none";
  if (isLoopback(host)) return owners ?? "local";
  if (!unsafePublic) {
    throw misconfigured(
      "host",
      `others can reach ${host}, but nobody is verified: set auth, listen on 127.0.0.1, or say unsafePublic`,
    );
  }
  if (owners === "local") {
    throw misconfigured("owners", `"local" would make everybody who can reach ${host} one owner`);
  }
  return "none";
};
