import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import "../aws-environment.ts";
import type { TaskRecord, TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { type Facade, startFacade } from "../facade/facade.ts";
import { state } from "../facade/script.ts";
import { seeded } from "../seeded.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { taskClient } from "../task-client.ts";
import { until } from "../until.ts";

export interface KillPlan {
  readonly seed: number;
  /** Lives of the server that end by a kill. */
  readonly kills: number;
  /** Lives follow until the store holds so many. */
  readonly records: number;
  /** Of the answers to starts, the share that is lost after AWS has accepted. */
  readonly lostShare: number;
  /** How far Describe and List lag behind (milliseconds). */
  readonly lagMs: number;
  readonly mutant?: "key-per-attempt";
}

export interface KillOutcome {
  readonly records: readonly Pick<TaskRecord, "taskId" | "startKey" | "state" | "message">[];
  /** Names of all executions that were really started. */
  readonly executions: readonly string[];
  /** Task IDs that a client has been given. */
  readonly acknowledged: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** How a life of the server ends: at a point inside a request that is certain to be met, or at a random moment. */
const ends = ["after-accept", "SIGKILL", "after-create", "before-start", "after-ref"] as const;

const serverScript = new URL("./server-under-test.mjs", import.meta.url);

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

const callAll = async (
  { url }: ServerProcess,
  calls: readonly number[],
  random: () => number,
  acknowledged: string[],
): Promise<void> => {
  const client = taskClient(url);
  const sent = calls.map(async (n, index) => {
    // A kill meets calls in every stage.
    await sleep(index % 2 === 0 ? 0 : random() * 600);
    const { taskId } = await client.start("work", { n, ms: Math.floor(random() * 1_500) });
    acknowledged.push(taskId);
  });
  await Promise.allSettled(sent);
};

const liveOnce = async (
  server: ServerProcess,
  how: string,
  calls: readonly number[],
  random: () => number,
  acknowledged: string[],
): Promise<void> => {
  const before = acknowledged.length;
  const all = callAll(server, calls, random, acknowledged);
  if (how === "SIGKILL") {
    const some = async (): Promise<true | undefined> => acknowledged.length - before >= calls.length / 3 || undefined;
    await Promise.race([all, until("some calls are answered", some)]);
    await sleep(random() * 300);
  } else await Promise.race([server.gone, all]);
  server.signal("SIGKILL");
  await server.gone;
  await all;
};

/** Lives of a server until all kills are done and the store holds enough; then one that brings all to an end. */
export const killRun = async (plan: KillPlan): Promise<KillOutcome> => {
  const random = seeded(plan.seed);
  const counts: Record<string, number> = {};
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const facade: Facade = await startFacade();
  const machine = facade.machine("orders", ({ input }) => ({
    steps: [state("Work", (JSON.parse(input) as { ms: number }).ms)],
  }));
  facade.setLag({ describeMs: plan.lagMs, listMs: plan.lagMs });
  facade.setFaults({
    losesAnswer: (action) => {
      const isLost = action === "StartExecution" && random() < plan.lostShare;
      if (isLost) count("lost answer");
      return isLost;
    },
  });
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-kill-"));
  const acknowledged: string[] = [];
  let live: ServerProcess | undefined;
  const serve = async (fault = ""): Promise<ServerProcess | undefined> => {
    const mutant: Record<string, string> = plan.mutant === undefined ? {} : { MUTANT: plan.mutant };
    live = await startServer(serverScript, { FOLDER: folder, ENDPOINT: facade.endpoint, FAULT: fault, ...mutant });
    return live;
  };
  const store = await sqliteStore({ path: `${folder}/tasks.db` });
  try {
    const quota = Math.ceil(plan.records / (plan.kills + 1)) + 1;
    let calls = 0;
    const next = (): readonly number[] => Array.from({ length: quota }, () => ++calls);
    for (let life = 0; life < plan.kills; life++) {
      const how = ends[life % ends.length] as string;
      const server = await serve(how === "SIGKILL" ? "" : `${how}:${1 + Math.floor(random() * quota)}`);
      count(how);
      if (server !== undefined) await liveOnce(server, how, next(), random, acknowledged);
    }
    const last = await serve();
    if (last === undefined) throw new Error("the server does not start any more");
    while ((await allRecords(store)).length < plan.records) await callAll(last, next(), random, acknowledged);
    const open = async (): Promise<readonly TaskRecord[]> =>
      (await allRecords(store)).filter(({ slotHeld, endedAt }) => slotHeld || endedAt === undefined);
    await until("all records have ended", async () => (await open()).length === 0 || undefined, 120_000);
    const executions = facade.executions(machine).map(({ name }) => name);
    return { records: await allRecords(store), executions, acknowledged, counts };
  } finally {
    live?.signal("SIGKILL");
    await live?.gone;
    await store.close();
    await facade.close();
    await rm(folder, { recursive: true, force: true });
  }
};

/** What is wrong with what came of it; nothing, where all is well. */
export const findFaults = ({ records, executions, acknowledged }: KillOutcome): readonly string[] => {
  const keys = new Set<string>(records.map(({ startKey }) => startKey));
  const started = new Set(executions);
  const taskIds = new Set<string>(records.map(({ taskId }) => taskId));
  return [
    ...executions.filter((name) => !keys.has(name)).map((name) => `${name} runs for no record`),
    ...records.filter(({ startKey }) => !started.has(startKey)).map(({ taskId }) => `${taskId} has no execution`),
    ...(started.size === executions.length ? [] : ["a name was started twice"]),
    ...records
      .filter(({ state: is }) => is !== "succeeded")
      .map(({ taskId, state: is, message }) => `${taskId} is ${is}: ${message}`),
    ...acknowledged.filter((taskId) => !taskIds.has(taskId)).map((taskId) => `${taskId} was promised and is not there`),
  ];
};
