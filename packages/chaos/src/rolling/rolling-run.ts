import { setTimeout as pause } from "node:timers/promises";
import type { BalancerOutcome } from "@taskbridge/services/balancer";
import { extensionClient } from "../clients/extension-client.ts";
import { ourClient } from "../clients/our-client.ts";
import type { DriverKind, TaskDriver } from "../clients/task-driver.ts";
import type { StoreKind } from "../fleet/backing-store.ts";
import { type Fleet, openFleet } from "../fleet/fleet.ts";
import type { Owner } from "../owner.ts";
import { callOn, type OurCalls } from "./call-on.ts";
import { type Drain, findDrainFaults } from "./find-drain-faults.ts";
import { openPollers } from "./open-pollers.ts";
import type { Polls, WatchedTask } from "./poll-on.ts";

export interface RollingOptions {
  readonly store: StoreKind;
  readonly replicas: number;
  /** Of all SDK clients together. */
  readonly pollsPerSecond: number;
  /** How often each replica is restarted. */
  readonly rounds: number;
  readonly drainMs: number;
  /** How long clients and replicas run before the first restart: a program that has just begun takes several times as long for each request. */
  readonly warmMs: number;
}

export interface RollingOutcome {
  /** Of unmodified SDK clients on 2026-07-28. */
  readonly polls: Polls;
  /** Of `@taskbridge/client`, on all wires with tasks. */
  readonly calls: OurCalls;
  /** Requests that failed at a replica after it was told to stop, and replicas that did not end as they should. */
  readonly drainFaults: readonly string[];
  /** How often each outcome came at the balancer, by replica. */
  readonly tally: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly restarts: number;
  /** From the first restart to the last; what was answered before does not count. */
  readonly durationMs: number;
}

const owner: Owner = { name: "roller", token: "chaos-token-of-the-roller" };
const pollingClients = 20;
/** What tools have that say nothing: most polls are answered by one read, as most are where servers are in use. */
const pollIntervalMs = 2_000;
const watchedTasks = 30;
/** Tasks end while replicas are restarted: so long after the first restart. */
const shortestMs = 2_000;
const maxMs = 40_000;
/** Between two restarts, as a deployment waits for a replica to be ready (milliseconds). */
const pauseMs = 1_000;

/** Restarts one replica after the other by SIGTERM while clients go on. */
export const rollingRun = async (options: RollingOptions): Promise<RollingOutcome> => {
  const outcomes: BalancerOutcome[] = [];
  const fleet = await openFleet({
    ...options,
    workers: 2,
    owners: [owner],
    isDirect: true,
    pollIntervalMs,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  try {
    const tasks = await startTasks(fleet, options.warmMs);
    const over = new AbortController();
    const calls: OurCalls = { done: 0, failed: [] };
    const pollers = openPollers({
      url: fleet.url,
      headers: headersOf(owner),
      tasks,
      clients: pollingClients,
      pollsPerSecond: options.pollsPerSecond,
    });
    const calling = (["2026-07-28", "2025-11-25", "sep-1686"] as const).map(async (wire) =>
      callOn(await connect(fleet, ourClient(wire)), wire, calls, over.signal),
    );
    let durationMs = 0;
    const rolling = async (): Promise<readonly Drain[]> => {
      await pause(options.warmMs);
      pollers.count();
      const startedAt = performance.now();
      const drains = await rollAll(fleet, options.rounds);
      durationMs = performance.now() - startedAt;
      return drains;
    };
    const rolled = rolling().finally(() => {
      over.abort();
      pollers.stop();
    });
    const [drains, polls] = await Promise.all([rolled, pollers.polls, ...calling]);
    const drainFaults = findDrainFaults(outcomes, drains);
    return { polls, calls, drainFaults, tally: fleet.balancer.tally(), restarts: drains.length, durationMs };
  } finally {
    await fleet.close();
  }
};

const headersOf = ({ token }: Owner): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

const connect = ({ url }: Fleet, kind: DriverKind): Promise<TaskDriver> =>
  kind.connect({
    url,
    headers: headersOf(owner),
    onAsk: () => ({ action: "accept", content: { token: "" } }),
  });

const startTasks = async (fleet: Fleet, warmMs: number): Promise<readonly WatchedTask[]> => {
  const driver = await connect(fleet, extensionClient);
  const tasks: WatchedTask[] = [];
  for (let index = 0; index < watchedTasks; index++) {
    const call = `watched-${index}`;
    const ms = Math.round(warmMs + shortestMs + ((maxMs - shortestMs) * index) / watchedTasks);
    const begun = await driver.start("slow", { call, ms });
    if ("taskId" in begun) tasks.push({ taskId: begun.taskId, call, hasEnded: false });
  }
  await driver.close();
  return tasks;
};

const rollAll = async ({ replicas, targets, balancer }: Fleet, rounds: number): Promise<readonly Drain[]> => {
  const drains: Drain[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [index, replica] of replicas.entries()) {
      await pause(pauseMs);
      const { host, port } = targets[index] as (typeof targets)[number];
      const reportedAt = Date.now();
      const { exitCode, goneAt } = await replica.roll();
      drains.push({ target: `${host}:${port}`, reportedAt, goneAt, exitCode });
      await balancer.probe();
    }
  }
  await pause(pauseMs);
  return drains;
};
