import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { startFaultProxy } from "@taskbridge/services/fault-proxy";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { seeded } from "@taskbridge/testkit";
import { type RedisBench, redisBench, until } from "../redis-bench.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { taskClient } from "../task-client.ts";
import type { KillReport } from "./kill-report.ts";

export interface KillPlan {
  readonly seed: number;
  /** Lives of the server that end by a kill. */
  readonly kills: number;
  /** Lives follow until the store holds so many. */
  readonly records: number;
  readonly redisRestarts: number;
  /** Of the answers to `add`, the share that is lost after Redis has executed it. */
  readonly lostShare: number;
  /** No more answers than so many are lost. Default: any number. */
  readonly maxLost?: number;
  readonly mutant?: "key-per-attempt";
}

export interface KillOutcome {
  readonly report: KillReport;
  /** How often each thing was done. */
  readonly counts: Readonly<Record<string, number>>;
}

/** How a life of the server ends: at a point inside a request that is certain to be met, or at a random moment. */
const ends = ["after-accept", "SIGKILL", "after-create", "SIGSTOP", "before-start", "after-ref"] as const;

const serverScript = new URL("./server-under-test.mjs", import.meta.url);
const workerScript = fileURLToPath(new URL("./journaled-worker.mjs", import.meta.url));

const allRecords = async (store: TaskStore): Promise<TaskRecord[]> => {
  const records: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ operator: true }, { includeExpired: true }, cursor, 100);
    records.push(...page.records);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return records;
};

const isOpen = (record: TaskRecord): boolean => record.slotHeld || record.endedAt === undefined;

const callOf = async (store: TaskStore, { taskId }: TaskRecord): Promise<number> => {
  const chunk = await store.readPayload(taskId, "input", { offset: 0, length: 10_000 });
  return (JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()) as { n: number }).n;
};

/** Every hash of the queue that holds a job, whatever its ID. */
const jobsInRedis = async ({ redis, queue }: RedisBench): Promise<KillReport["jobs"]> => {
  const keys = new Set<string>();
  for await (const page of redis.scanStream({ match: queue.toKey("*"), type: "hash" }))
    for (const key of page as string[]) keys.add(key);
  const jobs = await Promise.all(
    [...keys].map(async (key) => {
      const { data, stc = "0" } = (await redis.hgetall(key)) as Record<string, string | undefined>;
      if (data === undefined) return [];
      const id = key.slice(queue.toKey("").length);
      return [{ id, n: (JSON.parse(data) as { n: number }).n, stalls: Number(stc) }];
    }),
  );
  return jobs.flat();
};

/** Events of one name in the queue's stream, which keeps some 10,000. */
const countEvents = async ({ redis, queue }: RedisBench, name: string): Promise<number> => {
  const events = await redis.xrange(queue.toKey("events"), "-", "+");
  return events.filter(([, [, event]]) => event === name).length;
};

/** `add` is the server's only command that tells workers of a job, by the queue's marker. Several may be sent at once. */
const countAdds = (request: Buffer): number => request.toString("latin1").split(":marker\r\n").length - 1;

/** Everything around the server: Redis, its workers, the store's folder, and what goes wrong between server and Redis. */
interface Scene {
  readonly bench: RedisBench;
  readonly journal: string;
  readonly workers: ChildProcess[];
  readonly counts: Readonly<Record<string, number>>;
  count(what: string, times?: number): void;
  openStore(): Promise<TaskStore>;
  serve(fault?: string): Promise<ServerProcess | undefined>;
  addWorker(): Promise<void>;
  close(): Promise<void>;
}

const openScene = async (
  { lostShare, maxLost = Number.POSITIVE_INFINITY, mutant }: KillPlan,
  random: () => number,
): Promise<Scene> => {
  // `always`: Redis then keeps what it has answered for even when it is killed, and so do we have to.
  const bench = await redisBench({ appendOnly: true, flags: ["--appendfsync", "always"] });
  // In a queue that is younger than a send nothing tells whether that has arrived.
  await bench.ageEvents();
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-kill-"));
  const journal = join(folder, "journal");
  const counts: Record<string, number> = { "lost answer": 0, "Redis restart": 0 };
  const count = (what: string, times = 1): void => {
    counts[what] = (counts[what] ?? 0) + times;
  };
  const { hostname, port } = new URL(bench.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  proxy.set({
    losesAnswer: (request) => {
      const adds = countAdds(request);
      const isLost = adds > 0 && (counts["lost answer"] ?? 0) < maxLost && random() < lostShare;
      if (isLost) count("lost answer", adds);
      return isLost;
    },
  });
  const workers: ChildProcess[] = [];
  let live: ServerProcess | undefined;
  return {
    bench,
    journal,
    workers,
    counts,
    count,
    openStore: () => sqliteStore({ path: `${folder}/tasks.db` }),
    serve: async (fault = "") => {
      live = await startServer(serverScript, {
        FOLDER: folder,
        QUEUE_URL: `redis://${proxy.host}:${proxy.port}`,
        PREFIX: bench.prefix,
        QUEUE: bench.queueName,
        FAULT: fault,
        ...(mutant === undefined ? {} : { MUTANT: mutant }),
      });
      return live;
    },
    addWorker: async () => {
      const args = [bench.url, bench.prefix, bench.queueName, journal];
      const worker = fork(workerScript, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
      workers.push(worker);
      await once(worker, "message");
    },
    close: async () => {
      live?.signal("SIGKILL");
      await live?.gone;
      for (const worker of workers) worker.kill("SIGKILL");
      await proxy.close();
      await bench.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Kills Redis and one of the workers at a random moment; both come back. */
const disturb = async ({ bench, workers, addWorker, count }: Scene, random: () => number): Promise<void> => {
  await sleep(random() * 1_500);
  workers.shift()?.kill("SIGKILL");
  await bench.server?.kill();
  await sleep(random() * 1_000);
  await bench.server?.restart();
  count("Redis restart");
  await addWorker();
};

type Answered = Map<number, string>;

/** Makes the calls of these numbers, half of them at once, the others spread, so that a kill meets calls in every stage. */
const callAll = async (
  { url }: ServerProcess,
  calls: readonly number[],
  random: () => number,
  answered: Answered,
): Promise<void> => {
  const client = taskClient(url);
  const sent = calls.map(async (n, index) => {
    await sleep(index % 2 === 0 ? 0 : random() * 600);
    const { taskId } = await client.start("work", { n, ms: 100 + Math.floor(random() * 1_500) });
    answered.set(n, taskId);
  });
  await Promise.allSettled(sent);
};

/** One life: calls, and the end in the midst of them. */
const liveOnce = async (
  server: ServerProcess,
  how: string,
  calls: readonly number[],
  random: () => number,
  answered: Answered,
): Promise<void> => {
  const all = callAll(server, calls, random, answered);
  if (how.startsWith("SIG")) {
    const some = async (): Promise<true | undefined> =>
      calls.filter((n) => answered.has(n)).length >= calls.length / 3 || undefined;
    await Promise.race([all, until("some calls are answered", some)]);
    if (how === "SIGSTOP") {
      server.signal("SIGSTOP");
      await sleep(500 + random() * 1_000);
      server.signal("SIGCONT");
    }
    await sleep(random() * 300);
  } else await Promise.race([server.gone, all]);
  server.signal("SIGKILL");
  await server.gone;
  await all;
};

const readAll = async (url: string, store: TaskStore): Promise<KillReport["records"]> => {
  const client = taskClient(url);
  return Promise.all(
    (await allRecords(store)).map(async (record) => {
      const { result } = await client.get(record.taskId);
      return {
        taskId: record.taskId,
        startKey: record.startKey,
        n: await callOf(store, record),
        state: record.state,
        message: record.message,
        read: result?.content[0]?.text ?? "nothing",
      };
    }),
  );
};

const untilAllEnded = async (store: TaskStore): Promise<void> => {
  const open = async (): Promise<readonly TaskRecord[]> => (await allRecords(store)).filter(isOpen);
  await until("all records have ended", async () => (await open()).length === 0 || undefined, 90_000).catch(
    async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await open(), null, 1)}`);
    },
  );
};

/** Lives of a server until all kills are done and the store holds enough. */
const playKills = async (plan: KillPlan, scene: Scene, random: () => number, answered: Answered): Promise<void> => {
  const store = await scene.openStore();
  const quota = Math.ceil(plan.records / plan.kills) + 1;
  const disturbed = new Set<number>();
  while (disturbed.size < plan.redisRestarts) disturbed.add(Math.floor(random() * plan.kills));
  let disturbance: Promise<void> = Promise.resolve();
  let calls = 0;
  for (let life = 0; life < plan.kills || (await allRecords(store)).length < plan.records; life++) {
    if (life > plan.kills * 3) throw new Error("the records do not come together");
    if (disturbed.has(life)) {
      await disturbance;
      disturbance = disturb(scene, random);
    }
    const how = ends[life % ends.length] as string;
    const server = await scene.serve(how.startsWith("SIG") ? "" : `${how}:${1 + Math.floor(random() * quota)}`);
    scene.count(how);
    if (server === undefined) continue;
    const mine = Array.from({ length: quota }, () => ++calls);
    await liveOnce(server, how, mine, random, answered);
  }
  await disturbance;
  await store.close();
};

/** Plays the plan, waits until all is over, and tells what is there then. Without kills, one server takes all calls. */
export const killRun = async (plan: KillPlan): Promise<KillOutcome> => {
  const random = seeded(plan.seed);
  const scene = await openScene(plan, random);
  const acknowledged: Answered = new Map();
  try {
    await Promise.all([scene.addWorker(), scene.addWorker()]);
    if (plan.kills > 0) await playKills(plan, scene, random, acknowledged);
    const last = await scene.serve();
    if (last === undefined) throw new Error("the server does not start any more");
    const calls = Array.from({ length: plan.kills > 0 ? 0 : plan.records }, (_, index) => index + 1);
    await callAll(last, calls, random, acknowledged);
    const store = await scene.openStore();
    await untilAllEnded(store);
    const records = await readAll(last.url, store);
    await store.close();
    const journal = (await readFile(scene.journal, "utf8")).trim().split("\n");
    const jobs = await jobsInRedis(scene.bench);
    scene.count("repeated add", await countEvents(scene.bench, "duplicated"));
    return { report: { records, jobs, journal, acknowledged }, counts: scene.counts };
  } finally {
    await scene.close();
  }
};
