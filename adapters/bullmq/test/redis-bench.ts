import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "@jest/globals";
import {
  asStartKey,
  type CallContext,
  type ExecutionRef,
  type ExecutionSnapshot,
  type InspectOutcome,
  isEnded,
  type StartKey,
  type StartOutcome,
} from "@taskbridge/core/adapter";
import { type FaultProxy, startFaultProxy } from "@taskbridge/services/fault-proxy";
import { findRedis, type RedisServer, type RedisServerOptions, startRedis } from "@taskbridge/services/redis";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { type BullmqAdapter, type BullmqAdapterOptions, bullmq } from "../src/index.ts";

export const engine: Awaited<ReturnType<typeof findRedis>> = await findRedis();

/** A suite that needs a Redis; `own` when it stops and restarts one. Skipped by name where there is none. */
export const describeRedis = (name: string, body: () => void, own = false): void => {
  const missing =
    engine.kind === "missing"
      ? engine.reason
      : own && engine.kind === "url"
        ? "it stops Redis, and REDIS_URL is not ours to stop"
        : undefined;
  if (missing === undefined) describe(name, body);
  else if (process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing")
    it(`${name}: needs a Redis`, () => {
      throw new Error(missing);
    });
  else describe.skip(`${name} (SKIPPED: ${missing})`, body);
};

/** Waits until there is a result; the time is only there to end a test that fails. */
export const until = async <Value>(
  what: string,
  probe: () => Promise<Value | undefined>,
  deadlineMs = 15_000,
): Promise<Value> => {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** `plain`: BullMQ alone. `helper`: with the worker helper. */
export type WorkerKind = "plain" | "helper" | "pipeline";

export interface WorkerProcess {
  readonly process: ChildProcess;
  kill(): Promise<void>;
}

export interface RedisBench {
  readonly url: string;
  readonly prefix: string;
  readonly queueName: string;
  /** Undefined with REDIS_URL. */
  readonly server: RedisServer | undefined;
  readonly adapter: BullmqAdapter;
  /** Plain BullMQ, as a customer uses it. */
  readonly queue: Queue;
  readonly redis: Redis;
  /** Messages and fields that the adapter has logged. */
  readonly logged: readonly (readonly [message: string, fields: unknown])[];
  context(signal?: AbortSignal): CallContext;
  connect(options?: BullmqAdapterOptions): BullmqAdapter;
  /** An adapter that reaches Redis through a proxy. */
  behindProxy(): Promise<{ readonly proxy: FaultProxy; readonly adapter: BullmqAdapter }>;
  /** Has a worker process, which the whole file shares, serve the queue as well. */
  work(kind: WorkerKind, concurrency?: number): Promise<void>;
  /** Starts a worker process for this queue alone. */
  workAlone(
    kind: WorkerKind,
    settings?: { readonly concurrency?: number; readonly lockMs?: number },
  ): Promise<WorkerProcess>;
  /** As if the queue had been in use for a long time. */
  ageEvents(): Promise<void>;
  /** IDs of the jobs that Redis has been given, as its events tell. */
  added(): Promise<readonly string[]>;
  /** One line for each run of a processor: `<job ID> <attempt>`. */
  journal(): Promise<readonly string[]>;
  start(job: string, input?: unknown, options?: object): Promise<StartOutcome & { readonly id: string }>;
  inspect(ref: ExecutionRef, want?: "status" | "detail"): Promise<InspectOutcome>;
  seen(ref: ExecutionRef, what: string, fits: (snapshot: ExecutionSnapshot) => boolean): Promise<ExecutionSnapshot>;
  ended(ref: ExecutionRef): Promise<ExecutionSnapshot>;
  close(): Promise<void>;
}

export const newKey = (): StartKey => asStartKey(`mcp-${randomBytes(16).toString("hex")}`);

const openServer = async (
  options: Partial<RedisServerOptions>,
): Promise<{ readonly url: string; readonly server?: RedisServer }> => {
  if (engine.kind === "url") return { url: engine.url };
  if (engine.kind === "missing") throw new Error(engine.reason);
  const server = await startRedis({ program: engine.path, ...options });
  return { url: server.url, server };
};

const forkWorker = async (kind: WorkerKind, queue: object): Promise<ChildProcess> => {
  const file = fileURLToPath(new URL(`./workers/${kind}-worker.mjs`, import.meta.url));
  const child = fork(file, [JSON.stringify(queue)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const isReady = await Promise.race([once(child, "message").then(() => true), once(child, "exit").then(() => false)]);
  if (!isReady) throw new Error("the worker ended at once");
  return child;
};

const endProcess = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, "exit");
  if (child.kill("SIGKILL")) await ended;
};

/** A server that is not ours is left as it was. */
const removeKeys = async (redis: Redis, prefix: string): Promise<void> => {
  const keys = await redis.keys(`${prefix}:*`);
  if (keys.length > 0) await redis.del(keys);
};

let shared: ReturnType<typeof openServer> | undefined;
const sharedWorkers = new Map<WorkerKind, ChildProcess>();

/** Ends what the benches of a test file share. */
export const closeShared = async (): Promise<void> => {
  for (const child of sharedWorkers.values()) await endProcess(child);
  sharedWorkers.clear();
  const open = await shared;
  shared = undefined;
  await open?.server?.stop();
};

/** A queue under a prefix of its own. `own`: on a server of its own, else on one for the whole file. */
export const redisBench = async (own?: Partial<RedisServerOptions>): Promise<RedisBench> => {
  shared ??= own === undefined ? openServer({}) : undefined;
  const { url, server } = await (own === undefined && shared !== undefined ? shared : openServer(own ?? {}));
  const prefix = `tb-${randomBytes(6).toString("hex")}`;
  const queueName = "reports";
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-bullmq-"));
  const journalPath = join(folder, "journal");
  // Else a connection to a server that is gone outlives its test by two seconds.
  const redis = new Redis(url, { maxRetriesPerRequest: null, disconnectTimeout: 100 });
  redis.on("error", () => {});
  const queue = new Queue(queueName, { connection: redis, prefix });
  queue.on("error", () => {});
  await queue.waitUntilReady();
  const served = { url, prefix, queue: queueName, journal: journalPath };
  const adapters: BullmqAdapter[] = [];
  const proxies: FaultProxy[] = [];
  const workers = new Set<WorkerProcess>();
  const logged: [string, unknown][] = [];

  const connect = (options: BullmqAdapterOptions = {}): BullmqAdapter => {
    const adapter = bullmq({
      prefix,
      ...(options.connection === undefined && options.queues === undefined ? { url } : {}),
      ...options,
    });
    adapters.push(adapter);
    return adapter;
  };
  const adapter = connect();
  const context = (signal: AbortSignal = AbortSignal.timeout(10_000)): CallContext => ({
    signal,
    now: () => Date.now(),
    log: (_level, message, fields) => logged.push([message, fields]),
  });
  const inspection = async (ref: ExecutionRef, want: "status" | "detail" = "status"): Promise<InspectOutcome> => {
    const [outcome] = await adapter.inspect([{ ref, want }], context());
    if (outcome === undefined) throw new Error("no outcome");
    return outcome;
  };
  const seen: RedisBench["seen"] = (ref, what, fits) =>
    until(what, async () => {
      const outcome = await inspection(ref, "detail");
      return "snapshot" in outcome && fits(outcome.snapshot) ? outcome.snapshot : undefined;
    });

  return {
    url,
    prefix,
    queueName,
    server,
    adapter,
    queue,
    redis,
    logged,
    context,
    connect,
    work: async (kind, concurrency = 4) => {
      const queueOfOurs = { ...served, concurrency };
      const known = sharedWorkers.get(kind);
      if (known === undefined) sharedWorkers.set(kind, await forkWorker(kind, queueOfOurs));
      else {
        const ready = once(known, "message");
        known.send(queueOfOurs);
        await ready;
      }
    },
    workAlone: async (kind, settings = {}) => {
      const child = await forkWorker(kind, { ...served, ...settings });
      const worker: WorkerProcess = {
        process: child,
        kill: async () => {
          workers.delete(worker);
          await endProcess(child);
        },
      };
      workers.add(worker);
      return worker;
    },
    behindProxy: async () => {
      const { hostname, port } = new URL(url);
      const proxy = await startFaultProxy({ host: hostname, port: Number(port === "" ? 6379 : port) });
      proxies.push(proxy);
      const through = new URL(url);
      through.host = `${proxy.host}:${proxy.port}`;
      return { proxy, adapter: connect({ url: through.href }) };
    },
    ageEvents: async () => {
      await redis.xadd(queue.toKey("events"), "1-1", "event", "drained");
    },
    added: async () => {
      const events = await redis.xrange(queue.toKey("events"), "-", "+");
      return events.filter(([, fields]) => fields[1] === "added").map(([, fields]) => fields[3] ?? "");
    },
    journal: async () =>
      (await readFile(journalPath, "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
    start: async (job, input = {}, options) => {
      const key = newKey();
      const target = adapter.parseTarget({ queue: queueName, job, ...(options === undefined ? {} : { options }) });
      const outcome = await adapter.start({ key, target, input: JSON.stringify(input), attempt: 1 }, context());
      return { ...outcome, id: key };
    },
    inspect: inspection,
    seen,
    ended: (ref) => seen(ref, "the job ends", ({ status }) => isEnded(status)),
    close: async () => {
      for (const worker of workers) await worker.kill();
      for (const open of adapters) await open.close();
      for (const proxy of proxies) await proxy.close();
      if (server === undefined) await removeKeys(redis, prefix);
      redis.disconnect();
      await rm(folder, { recursive: true, force: true });
      if (own !== undefined) await server?.stop();
    },
  };
};
