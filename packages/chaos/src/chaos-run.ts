import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { TaskStore } from "@taskbridge/core/store";
import { seeded } from "@taskbridge/testkit";
import type { Evidence } from "./checks/evidence.ts";
import { findFaults } from "./checks/find-faults.ts";
import { answerOrphans, type OrphanOptions } from "./clients/answer-orphans.ts";
import { behave, type Stage } from "./clients/behave.ts";
import { type ChaosClient, chaosClient } from "./clients/chaos-client.ts";
import { driverKinds } from "./clients/driver-kinds.ts";
import { createLedger, type Ledger } from "./clients/ledger.ts";
import { createWorld, type World } from "./clients/world.ts";
import { drawPlan } from "./faults/draw-plan.ts";
import type { Fault } from "./faults/fault.ts";
import { playPlan } from "./faults/play-plan.ts";
import type { StoreKind } from "./fleet/backing-store.ts";
import { type Fleet, openFleet } from "./fleet/fleet.ts";
import { isOver, readJobs, readRecords, readTasks, toPublicId } from "./fleet/read-backend.ts";
import type { Owner } from "./owner.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly store: StoreKind;
  readonly replicas: number;
  readonly workers: number;
  readonly clients: number;
  /** One of the replicas is of the next version. */
  readonly isMixed: boolean;
  /** As in `FleetOptions`. */
  readonly beside?: string | undefined;
  /** Told what happens, a line each. */
  log(line: string): void;
}

export interface ChaosOutcome {
  /** Everything that is not as it was promised. */
  readonly faults: readonly string[];
  readonly evidence: Evidence;
  readonly plan: readonly Fault[];
  /** How often each outcome came at the balancer. */
  readonly tally: Readonly<Record<string, number>>;
  /** Replicas that could not start because the store was away. */
  readonly refusedBoots: number;
  /** Where logs and ledgers are kept; only of a run with faults. */
  readonly folder: string | undefined;
}

/** So many people share the clients. */
const ownerCount = 8;
/** After the last fault all tasks have to end within so long (milliseconds). */
const windDownMs = 90_000;
/** A replica that is rolled goes on serving so long: several looks of the balancer (milliseconds). */
const drainMs = 1_500;
/** Clocks of the replicas, minutes apart (milliseconds). */
const skewsMs: readonly number[] = [0, 180_000, -240_000];

/** One run against one store. Rejects when the fleet itself cannot be had, or does not come up again. */
export const chaosRun = async (options: ChaosOptions): Promise<ChaosOutcome> => {
  const { seed, minutes, log } = options;
  const random = seeded(seed);
  const isNetworked = options.store !== "sqlite";
  const lengthMs = minutes * 60_000;
  const plan = drawPlan({ random, lengthMs, replicas: options.replicas, workers: options.workers, isNetworked });
  for (const fault of plan) log(toLine(fault));
  const owners = Array.from({ length: ownerCount }, (_, index) => ({
    name: `owner-${index}`,
    token: `chaos-token-of-owner-${index}-${seed}`,
  }));
  const fleet = await openFleet({ ...options, owners, drainMs, ...(isNetworked ? { skewsMs } : {}) });
  let faults: readonly string[] | undefined;
  try {
    const ledger = createLedger();
    const world = createWorld();
    const clients = openClients(fleet, { options, owners, ledger, world });
    const stage: Stage = { isSettling: false, isOver: false };
    const lives = clients.map((client) => behave(client, world, stage));
    await Promise.all([playPlan(plan, fleet, random, (fault) => log(`now: ${toLine(fault)}`)), pause(lengthMs)]);
    stage.isSettling = true;
    const store = await fleet.store.open();
    await settle({ store, world, log, orphans: { url: fleet.url, owners, ledger } });
    stage.isOver = true;
    await Promise.all(lives);
    const evidence = await gather(fleet, store, ledger);
    await store.close();
    await Promise.all(clients.map((client) => client.close()));
    const surprises = [...fleet.replicas, ...fleet.workers].flatMap((slot) => slot.surprises);
    faults = [...findFaults(evidence), ...surprises];
    if (faults.length > 0) await writeFile(join(fleet.folder, "evidence.json"), JSON.stringify(evidence, null, 1));
    const refusedBoots = fleet.replicas.reduce((sum, { refusals }) => sum + refusals, 0);
    const tally = sumUp(Object.values(fleet.balancer.tally()));
    return { faults, evidence, plan, tally, refusedBoots, folder: faults.length > 0 ? fleet.folder : undefined };
  } finally {
    await fleet.close({ keep: faults === undefined || faults.length > 0 });
  }
};

interface ClientParts {
  readonly options: ChaosOptions;
  readonly owners: readonly Owner[];
  readonly ledger: Ledger;
  readonly world: World;
}

/** Kinds and owners go round in turns of different lengths, so that owners have clients of several kinds. */
const openClients = ({ url }: Fleet, { options, owners, ledger, world }: ClientParts): readonly ChaosClient[] =>
  Array.from({ length: options.clients }, (_, index) =>
    chaosClient({
      name: `c${index}`,
      url,
      kind: driverKinds[index % driverKinds.length] as (typeof driverKinds)[number],
      owner: owners[index % owners.length] as Owner,
      random: seeded(options.seed + index + 1),
      ledger,
      world,
    }),
  );

interface SettleParts {
  readonly store: TaskStore;
  readonly world: World;
  readonly orphans: OrphanOptions;
  readonly log: ChaosOptions["log"];
}

/** Waits until every task is over and its owner's clients have read its end, but no longer than is allowed. */
const settle = async ({ store, world, orphans, log }: SettleParts): Promise<void> => {
  const deadline = performance.now() + windDownMs;
  for (;;) {
    const open = (await readRecords(store)).filter((record) => !isOver(record));
    const unread = world.tasks.filter(({ isRead, isDeleted }) => !isRead && !isDeleted);
    if (open.length === 0 && unread.length === 0) return;
    if (performance.now() > deadline) {
      log(`not settled within ${windDownMs} ms: ${open.length} tasks open, ${unread.length} ends unread`);
      return;
    }
    const waiting = open.filter(({ state }) => state === "waiting");
    await answerOrphans(
      waiting.map(({ taskId, owner }) => ({ taskId: toPublicId(taskId), owner: owner?.split("|").at(-1) ?? "" })),
      orphans,
    );
    await pause(1_000);
  }
};

const gather = async (fleet: Fleet, store: TaskStore, { events }: Ledger): Promise<Evidence> => {
  const lines = await fleet.workerLines();
  const begun = new Map(lines.flatMap((line) => (line.kind === "begins" ? [[line.job, line.call] as const] : [])));
  const tasks = await readTasks(store, begun, await fleet.nextTaskIds());
  const started = new Map(tasks.map(({ startKey, call }) => [startKey, call]));
  const jobs = await readJobs(fleet.queue.url, (id) => started.get(id) ?? begun.get(id) ?? "unknown");
  return { events, jobs, tasks, lines };
};

const sumUp = (tallies: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> => {
  const sum: Record<string, number> = {};
  for (const [outcome, times] of tallies.flatMap(Object.entries<number>)) sum[outcome] = (sum[outcome] ?? 0) + times;
  return sum;
};

const toLine = ({ atMs, kind, target, link, forMs }: Fault): string =>
  `${(atMs / 1000).toFixed(1).padStart(7)} s  ${kind} ${target}${link === undefined ? "" : ` (${link})`}, ${(forMs / 1000).toFixed(1)} s`;
