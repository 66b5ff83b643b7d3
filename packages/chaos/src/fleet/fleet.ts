import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  type Balancer,
  type BalancerOptions,
  type BalancerTarget,
  startRoundRobin,
} from "@taskbridge/services/balancer";
import { type FaultProxy, startFaultProxy } from "@taskbridge/services/fault-proxy";
import { freePort } from "@taskbridge/services/free-port";
import type { RedisServer } from "@taskbridge/services/redis";
import { Redis } from "ioredis";
import type { WorkerLine } from "../checks/evidence.ts";
import { type BackingStore, openBackingStore, type StoreKind, startDurableRedis } from "./backing-store.ts";
import { openPlace, type Place } from "./place.ts";
import { type Owner, queueName, queuePrefix, writeConfig, writeTokens } from "./write-config.ts";

export interface FleetOptions {
  readonly store: StoreKind;
  readonly replicas: number;
  readonly workers: number;
  readonly owners: readonly Owner[];
  /** How long a replica that is told to stop goes on serving (milliseconds). */
  readonly drainMs: number;
  /** The first replica is of the next version. */
  readonly isMixed?: boolean;
  /** How wrong the clock of each replica is (milliseconds). */
  readonly skewsMs?: readonly number[];
  readonly onOutcome?: BalancerOptions["onOutcome"];
}

/** The connections of one replica. */
export interface Links {
  /** Undefined where the store is a file. */
  readonly store: FaultProxy | undefined;
  readonly queue: FaultProxy;
}

/** Everything that runs: replicas behind a balancer, their store, the queue's Redis, its workers. */
export interface Fleet {
  /** Of MCP, at the balancer. */
  readonly url: string;
  readonly balancer: Balancer;
  readonly replicas: readonly Place[];
  /** Where each replica listens. */
  readonly targets: readonly BalancerTarget[];
  readonly links: readonly Links[];
  readonly workers: readonly Place[];
  readonly store: BackingStore;
  readonly queue: RedisServer;
  /** Where logs and ledgers are. */
  readonly folder: string;
  /** IDs of the tasks that a replica of the next version has created. */
  nextTaskIds(): Promise<ReadonlySet<string>>;
  /** Everything that workers have written down. */
  workerLines(): Promise<readonly WorkerLine[]>;
  /** Ends all processes. The folder stays with `keep`. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

const require = createRequire(import.meta.url);
const host = "127.0.0.1";
const folderOf = (name: string): string => dirname(require.resolve(`${name}/package.json`));
/** Programs of ours, compiled. */
const ours = (name: string): string => fileURLToPath(new URL(`../../dist/fleet/${name}`, import.meta.url));

/** Packages that a configuration names, as if they were installed beside it. */
const installed: readonly string[] = [
  "@taskbridge/adapter-bullmq",
  "@taskbridge/store-postgres",
  "@taskbridge/store-redis",
  "@taskbridge/store-sqlite",
];

export const openFleet = async (options: FleetOptions): Promise<Fleet> => {
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-chaos-"));
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close: Fleet["close"] = async ({ keep = false } = {}) => {
    for (const end of closing.splice(keep ? 1 : 0).reverse()) await end();
  };
  try {
    const queue = await openQueue();
    closing.push(queue.stop);
    const store = await openBackingStore(options.store, folder);
    closing.push(store.close);
    if (options.isMixed === true) await store.announceNext();
    await linkPackages(folder);
    const nextFolder = await writeNextVersion(folder);
    const tokensFile = await writeTokens(folder, options.owners);

    const links: Links[] = [];
    const replicas: Place[] = [];
    const targets: BalancerTarget[] = [];
    for (let index = 0; index < options.replicas; index++) {
      const link = await openLinks(store, queue);
      links.push(link);
      closing.push(() => Promise.all([link.queue.close(), link.store?.close()]));
      const name = `replica-${index}`;
      const isNext = options.isMixed === true && index === 0;
      const port = await freePort(host);
      const config = await writeConfig({
        folder: isNext ? nextFolder : folder,
        name,
        store: store.urlAt(link.store),
        queueUrl: `redis://${link.queue.host}:${link.queue.port}`,
        tokensFile,
        drainMs: options.drainMs,
      });
      targets.push({ host, port });
      replicas.push(openReplica({ folder, name, port, config, skewMs: options.skewsMs?.[index] ?? 0 }));
    }
    const workers = Array.from({ length: options.workers }, (_, index) => openWorker(folder, queue, index));
    closing.push(() => Promise.all([...replicas, ...workers].map((place) => place.stop())));
    const balancer = await startRoundRobin({
      targets,
      healthPath: "/readyz",
      healthEveryMs: 250,
      ...(options.onOutcome === undefined ? {} : { onOutcome: options.onOutcome }),
    });
    closing.push(balancer.close);
    await Promise.all([...replicas, ...workers].map((place) => place.ready()));
    await balancer.look();
    const nextTaskIds = async (): Promise<ReadonlySet<string>> =>
      new Set((await readFile(nextLedger(folder), "utf8").catch(() => "")).split("\n").filter((line) => line !== ""));
    const workerLines = (): Promise<readonly WorkerLine[]> => readLedgers(folder, workers.length);
    return {
      url: `${balancer.url}/mcp`,
      balancer,
      replicas,
      targets,
      links,
      workers,
      store,
      queue,
      folder,
      nextTaskIds,
      workerLines,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** One that has been in use for a long time: in a younger queue nothing tells whether a send has arrived. */
const openQueue = async (): Promise<RedisServer> => {
  const server = await startDurableRedis();
  const redis = new Redis(server.url);
  await redis.xadd(`${queuePrefix}:${queueName}:events`, "1-1", "event", "drained");
  redis.disconnect();
  return server;
};

const linkPackages = async (folder: string): Promise<void> => {
  for (const name of installed) {
    const path = join(folder, "node_modules", name);
    await mkdir(dirname(path), { recursive: true });
    await symlink(folderOf(name), path);
  }
};

const nextLedger = (folder: string): string => join(folder, "next.ledger");

/** A folder in which the stores are those of the next version. */
const writeNextVersion = async (folder: string): Promise<string> => {
  const nextFolder = join(folder, "next");
  for (const name of installed) {
    const path = join(nextFolder, "node_modules", name);
    await mkdir(path, { recursive: true });
    const from = name.includes("/store-") ? ours("next-version-store.js") : undefined;
    if (from === undefined) {
      await rm(path, { recursive: true });
      await symlink(folderOf(name), path);
      continue;
    }
    await writeFile(join(path, "package.json"), JSON.stringify({ name, type: "module", exports: "./index.js" }));
    await writeFile(
      join(path, "index.js"),
      `export { createStore } from ${JSON.stringify(pathToFileURL(from).href)};\n`,
    );
  }
  return nextFolder;
};

const openLinks = async ({ server }: BackingStore, queue: RedisServer): Promise<Links> => ({
  store: server === undefined ? undefined : await startFaultProxy(server),
  queue: await startFaultProxy(queue),
});

interface ReplicaOptions {
  readonly folder: string;
  readonly name: string;
  readonly port: number;
  readonly config: string;
  readonly skewMs: number;
}

const openReplica = ({ folder, name, port, config, skewMs }: ReplicaOptions): Place =>
  openPlace({
    name,
    script: join(folderOf("taskbridge"), "dist/main.js"),
    args: ["serve", "--config", config, "--port", String(port)],
    execArgv: ["--import", ours("keep-to-parent.js")],
    env: { TASKBRIDGE_CHAOS_SKEW_MS: String(skewMs), TASKBRIDGE_CHAOS_NEXT: nextLedger(folder) },
    logFile: join(folder, `${name}.log`),
    isReady: async () => {
      const answer = await fetch(`http://${host}:${port}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(
        () => undefined,
      );
      await answer?.arrayBuffer().catch(() => undefined);
      return answer?.ok === true;
    },
  });

const ledgerFile = (folder: string, index: number): string => join(folder, `worker-${index}.ledger`);

const openWorker = (folder: string, queue: RedisServer, index: number): Place => {
  const ready = new WeakMap<ChildProcess, Promise<boolean>>();
  return openPlace({
    name: `worker-${index}`,
    script: ours("worker.js"),
    args: [queue.url, queuePrefix, queueName, ledgerFile(folder, index)],
    logFile: join(folder, `worker-${index}.log`),
    isReady: (child) => {
      const told =
        ready.get(child) ??
        Promise.race([once(child, "message").then(() => true), once(child, "exit").then(() => false)]);
      ready.set(child, told);
      return told;
    },
  });
};

const readLedgers = async (folder: string, workers: number): Promise<readonly WorkerLine[]> => {
  const texts = await Promise.all(
    Array.from({ length: workers }, (_, index) => readFile(ledgerFile(folder, index), "utf8").catch(() => "")),
  );
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as WorkerLine);
};
