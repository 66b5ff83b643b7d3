import type { TaskId, TaskStore } from "@taskbridge/core/store";
import { differentIds, expectThat, forEachOf, type SeededStore, times, type Verb } from "./verb.ts";

/** As the service loop does. */
const atOnce = 16;
const claimMs = 5_000;
/** Servers that look at the same moment. */
const serversAtOnce = 4;
/** Due at a time, however many records there are: a store that is looked after is never far behind. */
const dueRecords = 512;

/** What it costs to find what is due. */
export const dueVerbs = (seeded: SeededStore): readonly Verb[] => {
  let isAwake = false;
  const wakeSome = async (): Promise<void> => {
    if (isAwake) return;
    isAwake = true;
    await forEachOf(differentIds(seeded, dueRecords), (taskId) => wake(seeded, taskId));
  };
  return [
    {
      name: "due",
      atOnce: serversAtOnce,
      prepare: async (count) => {
        await wakeSome();
        return times(count, () => async () => {
          const records = await seeded.store.due(atOnce);
          expectThat(records.length === atOnce, "does not tell what is due");
        });
      },
    },
    claiming(seeded, wakeSome),
    {
      name: "next wake-up",
      atOnce: serversAtOnce,
      prepare: async (count) => times(count, () => () => seeded.store.nextWakeAt()),
    },
  ];
};

/** The first half of the operations hand out all that is due, the others find it claimed. */
const claiming = (seeded: SeededStore, wakeSome: () => Promise<void>): Verb => {
  const handed = new Set<TaskId>();
  return {
    name: "due, with claims",
    atOnce: serversAtOnce,
    max: (2 * dueRecords) / atOnce,
    prepare: async (count) => {
      await wakeSome();
      return times(count, () => async () => {
        for (const { taskId } of await seeded.store.due(atOnce, claimMs)) handed.add(taskId);
      });
    },
    // As whoever serves them does, which ends the claim; they are due again at once.
    undo: async () => {
      expectThat(handed.size >= atOnce, "does not tell what is due");
      await forEachOf(handed, (taskId) => wake(seeded, taskId));
      handed.clear();
    },
  };
};

const wake = async ({ store, read }: SeededStore, taskId: TaskId): Promise<void> => {
  const record = await read(taskId);
  await store.revise({ ...record, wakeAt: store.now() - 1 }, record.revision, { durable: false });
};

/** Lets what is due be due no more. */
export const putToSleep = async (store: TaskStore): Promise<void> => {
  for (let due = await store.due(dueRecords); due.length > 0; due = await store.due(dueRecords)) {
    await forEachOf(due, (record) => store.revise({ ...record, wakeAt: null }, record.revision, { durable: false }));
  }
};
