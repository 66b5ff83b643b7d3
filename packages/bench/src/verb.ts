import type { TaskId, TaskRecord, TaskStore } from "@taskbridge/core/store";
import { type Population, taskIdAt } from "./sample-task.ts";
import { drawTasks } from "./seed.ts";

/** Something a store is asked for, in many ways that cost the same. */
export interface Verb {
  readonly name: string;
  /** The most operations between `prepare` and `undo`. Default: as many as are wanted. */
  readonly max?: number;
  /** How many are carried out side by side, where not many callers ask for it at once. Default: `concurrency`. */
  readonly atOnce?: number;
  /** Makes what the operations need, and gives them. Not measured. */
  prepare(count: number): Promise<readonly Operation[]>;
  /** After the operations. Not measured. */
  undo?(): Promise<void>;
}

/** Rejects when the store does not do what it was asked for. */
export type Operation = () => Promise<unknown>;

/** How many calls a busy store carries out side by side. */
export const concurrency = 32;

/** A store, and which tasks it holds. */
export interface SeededStore {
  readonly store: TaskStore;
  readonly population: Population;
  /** The number of some task: all are drawn, evenly. */
  draw(): number;
  /** Rejects when there is none. */
  read(taskId: TaskId): Promise<TaskRecord>;
}

export const seededStore = (store: TaskStore, population: Population): SeededStore => {
  const drawn = drawTasks(population);
  return {
    store,
    population,
    draw: () => drawn.next().value,
    read: async (taskId) => {
      const record = await store.read(taskId);
      if (record === undefined) throw new Error(`the store does not find ${taskId}`);
      return record;
    },
  };
};

/** IDs of tasks, all different: as many as wanted, or half of all. */
export const differentIds = ({ population, draw }: SeededStore, count: number): readonly TaskId[] => {
  const ids = new Set<TaskId>();
  while (ids.size < Math.min(count, population.size / 2)) ids.add(taskIdAt(population, draw()));
  return [...ids];
};

/** Does something for each, `concurrency` at a time: what is prepared or undone is not to overrun a store. */
export const forEachOf = async <Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const rest = [...items].entries();
  const results: Result[] = [];
  const doSome = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, doSome));
  return results;
};

export const times = (count: number, operation: (index: number) => Operation): readonly Operation[] =>
  Array.from({ length: count }, (_, index) => operation(index));

export const expectThat = (isSo: boolean, what: string): void => {
  if (!isSo) throw new Error(`the store ${what}`);
};
