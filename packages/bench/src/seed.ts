import { isDeepStrictEqual } from "node:util";
import type { TaskStore } from "@taskbridge/core/store";
import { type Population, type SampleTask, taskAt, taskIdAt } from "./sample-task.ts";

/** Writes many tasks at once, as `create` would have written each. */
export type WriteTasks = (tasks: readonly SampleTask[]) => Promise<void>;

/** A way to write tasks past the store. */
export interface FillTasks {
  readonly write: WriteTasks;
  /** Lets many batches be written without the indexes that can be made afterwards, and then makes them. Nobody else may use the store meanwhile. */
  readonly withoutIndexes?: (fill: () => Promise<void>) => Promise<void>;
}

const options = { uniqueKeys: [], maxOpenForOwner: null, maxOpenForTool: null };

/** By the store's own `create`, all side by side. */
export const createAll = (store: TaskStore): FillTasks => ({
  write: async (tasks) => {
    await Promise.all(tasks.map(({ record, payloads }) => store.create(record, { ...options, payloads })));
  },
});

/** Tasks written at once, where nothing else is better. */
export const batchSize = 500;

/** Writes a population's tasks, oldest first. The next ones are made while the last ones are on their way. */
export const seed = async (
  population: Population,
  { write, withoutIndexes }: FillTasks,
  atOnce: number = batchSize,
): Promise<void> => {
  const fill = async (): Promise<void> => {
    let writing = Promise.resolve();
    for (let first = 0; first < population.size; first += atOnce) {
      const length = Math.min(atOnce, population.size - first);
      const tasks = Array.from({ length }, (_, offset) => taskAt(population, first + offset));
      await writing;
      writing = write(tasks);
      // It is looked at when the next ones have been made.
      writing.catch(() => {});
    }
    await writing;
  };
  await (withoutIndexes === undefined ? fill() : withoutIndexes(fill));
};

const checked = 200;

/** Throws unless a sample of what was seeded is found by the contract as `create` leaves it. */
export const checkSeed = async (population: Population, store: TaskStore): Promise<void> => {
  for (let index = 0; index < population.size; index += Math.max(1, Math.floor(population.size / checked))) {
    const { record, payloads } = taskAt(population, index);
    const stored = await store.read(record.taskId);
    const isSame = isDeepStrictEqual(stored, { ...record, revision: 1 });
    if (!isSame) throw new Error(`task ${index} was seeded as ${JSON.stringify(record)}, is ${JSON.stringify(stored)}`);
    const found = record.ref && (await store.findByExecution(record.adapterId, { ref: record.ref }));
    if (found?.taskId !== record.taskId) throw new Error(`task ${index} is not found by its execution`);
    for (const { name, bytes } of payloads) {
      const kept = await store.readPayload(record.taskId, name, { offset: 0, length: bytes.length + 1 });
      if (kept === undefined || !Buffer.from(bytes).equals(kept.bytes))
        throw new Error(`the ${name} of task ${index} is not what was seeded`);
    }
  }
};

/** Numbers of a population's tasks, spread evenly and without an end. */
export function* drawTasks(population: Population): Generator<number, never> {
  // The golden ratio, so that every part of the store is met early on.
  for (let at = 0.5; ; at = (at + 0.618_033_988_75) % 1) yield Math.floor(at * population.size);
}

export const drawTaskId = (population: Population, draw: Generator<number, never>): ReturnType<typeof taskIdAt> =>
  taskIdAt(population, draw.next().value);
