import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import "../aws-environment.ts";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { type Facade, startFacade } from "../facade/facade.ts";
import { seeded } from "../seeded.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { type TaskClient, taskClient } from "../task-client.ts";
import { until } from "../until.ts";
import type { KillReport } from "./kill-report.ts";
import { type Asked, attendOnce, type Order, orders, readOrder } from "./orders.ts";
import { toSettings } from "./settings.ts";

export interface KillPlan {
  readonly seed: number;
  /** Lives of the server that end by a kill. */
  readonly kills: number;
  /** Lives follow until the store holds so many. */
  readonly records: number;
  /** Of the answers to starts, answers and stops, the share that is lost after AWS has accepted. */
  readonly lostShare: number;
  /** How far Describe and List lag behind (milliseconds). */
  readonly lagMs: number;
  readonly mutant?: "key-per-attempt";
}

export interface KillOutcome {
  readonly report: KillReport;
  /** How often each thing was done. */
  readonly counts: Readonly<Record<string, number>>;
}

/** How a life of the server ends: at a point inside a request that is certain to be met, or at a random moment. */
const ends = [
  "after-accept",
  "SIGKILL",
  "after-create",
  "SIGSTOP",
  "before-start",
  "before-answer",
  "after-ref",
  "after-cancel",
  "after-answer",
  "before-cancel",
] as const;

/** Of every ten calls one asks twice, and one has to be cancelled. */
const kinds: Readonly<Record<number, Order["kind"]>> = { 3: "asks", 7: "endless" };

const serverScript = new URL("./server-under-test.mjs", import.meta.url);
const settings = toSettings(3_000);
const unsure: ReadonlySet<string> = new Set(["StartExecution", "SendTaskSuccess", "StopExecution"]);

const allRecords = async (store: TaskStore): Promise<readonly TaskRecord[]> => {
  const records: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ operator: true }, { includeExpired: true }, cursor, 100);
    records.push(...page.records);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return records;
};

const isOpen = ({ slotHeld, endedAt }: TaskRecord): boolean => slotHeld || endedAt === undefined;

/** Everything around the server, and what its clients know. */
interface Scene {
  readonly facade: Facade;
  readonly machine: string;
  readonly store: TaskStore;
  readonly counts: Readonly<Record<string, number>>;
  readonly acknowledged: string[];
  readonly asked: Map<string, Asked>;
  count(what: string): void;
  serve(fault?: string): Promise<ServerProcess | undefined>;
  close(): Promise<void>;
}

const openScene = async ({ lagMs, lostShare, mutant }: KillPlan, random: () => number): Promise<Scene> => {
  const facade = await startFacade();
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  facade.setLag({ describeMs: lagMs, listMs: lagMs });
  facade.setFaults({
    losesAnswer: (action) => {
      const isLost = unsure.has(action) && random() < lostShare;
      if (isLost) count(`lost answer to ${action}`);
      return isLost;
    },
  });
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-kill-"));
  const store = await sqliteStore({ path: `${folder}/tasks.db` });
  let live: ServerProcess | undefined;
  return {
    facade,
    machine: facade.machine("orders", orders),
    store,
    counts,
    acknowledged: [],
    asked: new Map(),
    count,
    serve: async (fault = "") => {
      const started = await startServer(serverScript, {
        SETTINGS: JSON.stringify(settings),
        SCENES: JSON.stringify([{ folder, endpoint: facade.endpoint, fault, mutant }]),
      });
      if (started === undefined) return undefined;
      const [url = ""] = JSON.parse(started.url) as readonly string[];
      live = { ...started, url };
      return live;
    },
    close: async () => {
      live?.signal("SIGKILL");
      await live?.gone;
      await store.close();
      await facade.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const orderOf = async (store: TaskStore, { taskId }: TaskRecord): Promise<Order> => {
  const chunk = await store.readPayload(taskId, "input", { offset: 0, length: 10_000 });
  return readOrder(Buffer.from(chunk?.bytes ?? []).toString());
};

const callAll = async (
  client: TaskClient,
  calls: readonly number[],
  random: () => number,
  acknowledged: string[],
): Promise<void> => {
  const sent = calls.map(async (n, index) => {
    // A kill meets calls in every stage.
    await sleep(index % 2 === 0 ? 0 : random() * 600);
    const order: Order = { n, kind: kinds[n % 10] ?? "works", ms: Math.floor(random() * 1_500) };
    const { taskId } = await client.start("work", { ...order });
    acknowledged.push(taskId);
  });
  await Promise.allSettled(sent);
};

/** Does once what clients do for all tasks that do not end by themselves, whoever called them. */
const attendAll = async (client: TaskClient, { store, asked }: Scene): Promise<void> => {
  const open = (await allRecords(store)).filter(isOpen);
  await Promise.allSettled(
    open.map(async (record) => {
      const order = await orderOf(store, record);
      if (order.kind === "works") return;
      const { taskId } = record;
      const mine: Asked = asked.get(taskId) ?? new Map();
      asked.set(taskId, mine);
      await attendOnce(client, { taskId, order, asked: mine });
    }),
  );
};

/** Attends to all until it is told to stop, or the server that it asks is gone. */
const attendWhile = (client: TaskClient, scene: Scene): (() => Promise<void>) => {
  let isOver = false;
  const loop = (async () => {
    for (; !isOver; await sleep(250)) await attendAll(client, scene);
  })();
  return () => {
    isOver = true;
    return loop;
  };
};

/** One life: calls, and the end in the midst of them. */
const liveOnce = async (
  server: ServerProcess,
  how: string,
  calls: readonly number[],
  random: () => number,
  scene: Scene,
): Promise<void> => {
  const { acknowledged } = scene;
  const before = acknowledged.length;
  const client = taskClient(server.url);
  const stopAttending = attendWhile(client, scene);
  const all = callAll(client, calls, random, acknowledged);
  if (how.startsWith("SIG")) {
    const some = async (): Promise<true | undefined> => acknowledged.length - before >= calls.length / 3 || undefined;
    await Promise.race([all, until("some calls are answered", some)]);
    if (how === "SIGSTOP") {
      server.signal("SIGSTOP");
      // Whatever it waited for is over when it goes on.
      await sleep((settings.limits?.callTimeoutMs ?? 0) + 500);
      server.signal("SIGCONT");
    }
    await sleep(random() * 300);
  } else await Promise.race([server.gone, all.then(() => sleep(2_500))]);
  server.signal("SIGKILL");
  await server.gone;
  await all;
  await stopAttending();
};

/** Lives of a server until all kills are done and the store holds enough; then one that brings all to an end. */
export const killRun = async (plan: KillPlan): Promise<KillOutcome> => {
  const random = seeded(plan.seed);
  const scene = await openScene(plan, random);
  const { store, acknowledged } = scene;
  try {
    const quota = Math.ceil(plan.records / (plan.kills + 1)) + 1;
    let calls = 0;
    const next = (): readonly number[] => Array.from({ length: quota }, () => ++calls);
    for (let life = 0; life < plan.kills; life++) {
      const how = ends[life % ends.length] as string;
      const isOfStart = !/answer|cancel/.test(how);
      // Of what comes to the point at all.
      const limit = isOfStart ? quota : Math.max(1, Math.floor(quota / 10));
      const server = await scene.serve(how.startsWith("SIG") ? "" : `${how}:${1 + Math.floor(random() * limit)}`);
      scene.count(how);
      if (server !== undefined) await liveOnce(server, how, next(), random, scene);
    }
    const last = await scene.serve();
    if (last === undefined) throw new Error("the server does not start any more");
    const client = taskClient(last.url);
    while ((await allRecords(store)).length < plan.records) await callAll(client, next(), random, acknowledged);
    const stopAttending = attendWhile(client, scene);
    const open = async (): Promise<readonly TaskRecord[]> => (await allRecords(store)).filter(isOpen);
    await until("all records have ended", async () => (await open()).length === 0 || undefined, 180_000).catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await open(), null, 1)}`);
      },
    );
    await stopAttending();
    return { report: await toReport(client, scene), counts: scene.counts };
  } finally {
    await scene.close();
  }
};

const toReport = async (
  client: TaskClient,
  { facade, machine, store, acknowledged, asked }: Scene,
): Promise<KillReport> => ({
  records: await Promise.all(
    (await allRecords(store)).map(async (record) => ({
      taskId: record.taskId,
      startKey: record.startKey,
      order: await orderOf(store, record),
      state: record.state,
      message: record.message,
      read: (await client.get(record.taskId)).result?.content[0]?.text,
    })),
  ),
  executions: facade.executions(machine),
  acknowledged,
  asked,
});
