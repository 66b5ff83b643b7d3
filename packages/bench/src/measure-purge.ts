import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { asAdapterId, type TaskStore } from "@taskbridge/core/store";
import type { BenchedStore, StoreKind } from "./benched-store.ts";
import { type Figures, latencies } from "./latencies.ts";
import { purgedAdapter, purgingEngine } from "./purging-engine.ts";
import { type Population, type SampleTask, taskAt, taskIdAt } from "./sample-task.ts";
import { batchSize, createAll } from "./seed.ts";
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

/** One where the reads are, as in a server that is polled while it purges, and one in a process of its own. */
const replicas = 2;
const readsPerSecond = 50;
const beforeMs = 20_000;
const askEveryMs = 250;
/** Whatever is wrong, it is not waited for longer. */
const maxMs = 1_800_000;

/**
 * Lets two engines purge that many expired records out of a store, and reads meanwhile. `keeps`: the backend keeps something for each,
 * which it is told to forget.
 */
export const measurePurge = async (
  kind: StoreKind,
  benched: BenchedStore,
  seeded: SeededStore,
  { expired, keeps }: { readonly expired: number; readonly keeps: boolean },
): Promise<PurgeFigures> => {
  const { store } = seeded;
  const tasks = expiredTasks({ seed: "purged", size: expired * 2, now: store.now() }, expired);
  const { write } = benched.filling ?? createAll(store);
  const { atOnce = batchSize } = benched;
  for (let first = 0; first < tasks.length; first += atOnce) await write(tasks.slice(first, first + atOnce));
  const before = await readSteadily(seeded, pause(beforeMs));
  const startedAt = performance.now();
  const purge = startEngines(kind.name, benched.url, store, { expired, keeps });
  const during = await readSteadily(seeded, purge);
  const removed = await purge;
  const removedPerSecond = (removed / (performance.now() - startedAt)) * 1_000;
  if (removed !== expired) throw new Error(`${removed} were removed, ${expired} have expired`);
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
const startEngines = async (
  kind: string,
  url: string,
  store: TaskStore,
  { expired, keeps }: { readonly expired: number; readonly keeps: boolean },
): Promise<number> => {
  const program = fileURLToPath(new URL("./purge-replica.js", import.meta.url));
  const child = fork(program, [kind, url, keeps ? "keeps" : "keeps nothing"]);
  let [removedHere, removedThere] = [0, 0];
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  child.on("message", (reported: { readonly removed?: number; readonly error?: string }) => {
    if (reported.error !== undefined) fail(new Error(`the other engine: ${reported.error}`));
    else removedThere = reported.removed ?? 0;
  });
  child.on("exit", (code) => fail(new Error(`the other engine has ended with ${code}`)));
  const engine = purgingEngine(store, keeps, {
    removed: () => {
      removedHere += 1;
    },
    failed: (message) => fail(new Error(`the engine: ${message}`)),
  });
  const purge = async (): Promise<number> => {
    await engine.open();
    for (const endsAt = performance.now() + maxMs; removedHere + removedThere < expired; await pause(askEveryMs)) {
      if (performance.now() > endsAt) throw new Error(`only ${removedHere + removedThere} of ${expired} were removed`);
      if (child.connected) child.send("how many?");
    }
    return removedHere + removedThere;
  };
  try {
    return await Promise.race([purge(), failed]);
  } finally {
    const exit = child.exitCode === null ? once(child, "exit") : undefined;
    if (child.connected) child.disconnect();
    await exit;
    await engine.close();
  }
};
