import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
import type { Owner } from "../owner.ts";
import { type BackingStore, openBackingStore, type StoreKind, startDurableRedis } from "./backing-store.ts";
import { linkNextVersion, linkPackages, packagesOf } from "./link-packages.ts";
import { readNextTaskIds } from "./next-ledger.ts";
import { openReplica } from "./open-replica.ts";
import { openWorker, readWorkerLines } from "./open-worker.ts";
import type { ProcessSlot } from "./process-slot.ts";
import { queueName, queuePrefix, writeConfig, writeTokens } from "./write-config.ts";

export interface FleetOptions {
  readonly store: StoreKind;
  readonly replicas: number;
  readonly workers: number;
  readonly owners: readonly Owner[];
  /** How long a replica that is told to stop goes on serving (milliseconds). */
  readonly drainMs: number;
  /** The first replica is of the next version. */
  readonly isMixed?: boolean;
  /** A checkout of another version, built, of which the last replica is. */
  readonly beside?: string | undefined;
  /** How wrong the clock of each replica is (milliseconds). */
  readonly skewsMs?: readonly number[];
  readonly onOutcome?: BalancerOptions["onOutcome"];
  /** What the server advertises, and how often it looks at most (milliseconds). Default: 250. */
  readonly pollIntervalMs?: number;
  /** Replicas reach store and queue without anything between that could cut them off. */
  readonly isDirect?: boolean;
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
  readonly replicas: readonly ProcessSlot[];
  /** Where each replica listens. */
  readonly targets: readonly BalancerTarget[];
  /** By replica; none where they are direct. */
  readonly links: readonly Links[];
  readonly workers: readonly ProcessSlot[];
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

const host = "127.0.0.1";

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
    const nextFolder = join(folder, "next");
    await linkNextVersion(nextFolder);
    const otherFolder = join(folder, "other");
    const findOther = options.beside === undefined ? undefined : packagesOf(options.beside);
    if (findOther !== undefined) await linkPackages(otherFolder, findOther);
    const tokensFile = await writeTokens(folder, options.owners);

    const links: Links[] = [];
    const replicas: ProcessSlot[] = [];
    const targets: BalancerTarget[] = [];
    for (let index = 0; index < options.replicas; index++) {
      const link = options.isDirect === true ? undefined : await openLinks(store, queue);
      if (link !== undefined) {
        links.push(link);
        closing.push(() => Promise.all([link.queue.close(), link.store?.close()]));
      }
      const name = `replica-${index}`;
      const isNext = options.isMixed === true && index === 0;
      const find = index === options.replicas - 1 ? findOther : undefined;
      const target = { host, port: await freePort(host) };
      const config = await writeConfig({
        folder: isNext ? nextFolder : find === undefined ? folder : otherFolder,
        name,
        store: store.urlAt(link?.store),
        queueUrl: link === undefined ? queue.url : `redis://${link.queue.host}:${link.queue.port}`,
        tokensFile,
        drainMs: options.drainMs,
        pollIntervalMs: options.pollIntervalMs ?? 250,
      });
      targets.push(target);
      const skewMs = options.skewsMs?.[index] ?? 0;
      replicas.push(openReplica({ folder, name, target, config, skewMs, ...(find === undefined ? {} : { find }) }));
    }
    const workers = Array.from({ length: options.workers }, (_, index) => openWorker(folder, queue.url, index));
    closing.push(() => Promise.all([...replicas, ...workers].map((slot) => slot.stop())));
    const balancer = await startRoundRobin({
      targets,
      healthPath: "/readyz",
      healthEveryMs: 250,
      ...(options.onOutcome === undefined ? {} : { onOutcome: options.onOutcome }),
    });
    closing.push(balancer.close);
    await Promise.all([...replicas, ...workers].map((slot) => slot.ready()));
    await balancer.probe();
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
      nextTaskIds: () => readNextTaskIds(folder),
      workerLines: () => readWorkerLines(folder, workers.length),
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

const openLinks = async ({ server }: BackingStore, queue: RedisServer): Promise<Links> => ({
  store: server === undefined ? undefined : await startFaultProxy(server),
  queue: await startFaultProxy(queue),
});
