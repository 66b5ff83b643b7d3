import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { asAdapterId } from "@taskbridge/core/store";
import type { BenchedStore, StoreKind } from "./benched-store.ts";
import { type Figures, latencies } from "./latencies.ts";
import { type Population, type SampleTask, taskAt, taskIdAt } from "./sample-task.ts";
import { createAll } from "./seed.ts";
import type { SeededStore } from "./verb.ts";

/** What retention does to those who read meanwhile. */
export interface PurgeFigures {
  readonly expired: number;
  readonly replicas: number;
  readonly removedPerSecond: number;
  /** Of reads at a steady rate, from when each was due; first while nothing else was done. */
  readonly before: Figures;
  readonly during: Figures;
}

/** The adapter of the tasks that are purged, and the only one that the replicas have. */
export const purgedAdapter: string = "purged";

const replicas = 2;
const readsPerSecond = 50;
const beforeMs = 20_000;
const askEveryMs = 250;
const batchSize = 500;
/** Whatever is wrong, it is not waited for longer. */
const mostMs = 1_800_000;

/** Lets two engines, each in a process of its own, purge that many expired records out of a store, and reads meanwhile. */
export const measurePurge = async (
  kind: StoreKind,
  place: BenchedStore,
  seeded: SeededStore,
  expired: number,
): Promise<PurgeFigures> => {
  const { store } = seeded;
  const tasks = expiredTasks({ seed: "purged", size: expired * 2, now: store.now() }, expired);
  const write = place.write ?? createAll(store);
  for (let first = 0; first < tasks.length; first += batchSize) await write(tasks.slice(first, first + batchSize));
  const before = await readSteadily(seeded, pause(beforeMs));
  const startedAt = performance.now();
  const purge = startReplicas(kind.name, place.url, expired);
  const during = await readSteadily(seeded, purge);
  const removedPerSecond = ((await purge) / (performance.now() - startedAt)) * 1_000;
  for (const { record } of tasks.filter((_, index) => index % 1_000 === 0))
    if ((await store.read(record.taskId)) !== undefined) throw new Error(`${record.taskId} was not removed`);
  return { expired, replicas, removedPerSecond, before, during };
};

/** Ended tasks whose time is over. */
const expiredTasks = (population: Population, count: number): readonly SampleTask[] => {
  const tasks: SampleTask[] = [];
  for (let index = 0; tasks.length < count; index++) {
    const { record, payloads } = taskAt(population, index);
    if (record.endedAt === undefined || record.expired === true) continue;
    const over = population.now - 1_000;
    tasks.push({
      record: { ...record, adapterId: asAdapterId(purgedAdapter), expiresAt: over, wakeAt: over },
      payloads,
    });
  }
  return tasks;
};

/** Reads at a steady rate, whether the reads before have been answered or not. */
const readSteadily = async ({ population, draw, read }: SeededStore, work: Promise<unknown>): Promise<Figures> => {
  const taken = latencies();
  const reads: Promise<void>[] = [];
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const startedAt = performance.now();
  for (let number = 0; !isOver; number++) {
    const dueAt = startedAt + (number * 1_000) / readsPerSecond;
    const aheadMs = dueAt - performance.now();
    if (aheadMs > 1) await pause(aheadMs);
    reads.push(read(taskIdAt(population, draw())).then(() => taken.add(performance.now() - dueAt)));
  }
  await Promise.all([over, ...reads]);
  taken.addElapsed(performance.now() - startedAt);
  return taken.figures();
};

/** Resolves with how many records were removed, once all were. */
const startReplicas = async (kind: string, url: string, expired: number): Promise<number> => {
  const program = fileURLToPath(new URL("./purge-replica.js", import.meta.url));
  const children = Array.from({ length: replicas }, () => fork(program, [kind, url]));
  const removed = new Map<ChildProcess, number>();
  const failed = new Promise<never>((_, reject) => {
    for (const child of children) {
      child.on("message", (told: { readonly removed?: number; readonly error?: string }) => {
        if (told.error !== undefined) reject(new Error(`a replica: ${told.error}`));
        else removed.set(child, told.removed ?? 0);
      });
      child.on("exit", (code) => reject(new Error(`a replica has ended with ${code}`)));
    }
  });
  const sum = (): number => [...removed.values()].reduce((total, some) => total + some, 0);
  const purge = async (): Promise<number> => {
    for (const endsAt = performance.now() + mostMs; sum() < expired; await pause(askEveryMs)) {
      if (performance.now() > endsAt) throw new Error(`only ${sum()} of ${expired} were removed`);
      for (const child of children) if (child.connected) child.send("how many?");
    }
    return sum();
  };
  try {
    return await Promise.race([purge(), failed]);
  } finally {
    failed.catch(() => {});
    const exits = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, "exit"));
    for (const child of children) if (child.connected) child.disconnect();
    await Promise.all(exits);
  }
};
