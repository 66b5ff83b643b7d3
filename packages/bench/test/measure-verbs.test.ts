import { describe, expect, it } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import { putToSleep } from "../src/due-verbs.ts";
import { measureVerbs } from "../src/measure-verbs.ts";
import type { Population } from "../src/sample-task.ts";
import { checkSeed, createAll, seed } from "../src/seed.ts";
import { concurrency, seededStore } from "../src/verb.ts";

const size = 2_000;

const openSeeded = async (): Promise<{ store: TaskStore; population: Population }> => {
  const store = memoryStore();
  const population = { seed: "test", size, now: store.now() };
  await seed(population, createAll(store));
  return { store, population };
};

const countOf = async (store: TaskStore): Promise<number> => {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await store.list({ operator: true }, { includeExpired: true }, cursor, 1_000);
    count += page.records.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return count;
};

describe("a seeded store", () => {
  it("holds the population", async () => {
    const { store, population } = await openSeeded();
    expect(await countOf(store)).toBe(size);
    await expect(checkSeed(population, store)).resolves.toBeUndefined();
  });

  it("is not taken for one when a record differs", async () => {
    const { store, population } = await openSeeded();
    const { records } = await store.list({ operator: true }, { includeExpired: true }, undefined, size);
    for (const record of records) await store.revise({ ...record, message: "another" }, record.revision);
    await expect(checkSeed(population, store)).rejects.toThrow("was seeded as");
  });
});

describe("measuring the verbs", () => {
  it("measures each on each store, and leaves as many records as there were", async () => {
    const opened = [await openSeeded(), await openSeeded()];
    const stores = opened.map(({ store, population }) => seededStore(store, population));
    const reported: string[] = [];
    const measured = await measureVerbs(stores, {
      rounds: 2,
      operations: 4,
      verbMs: 0,
      onVerb: (verb) => reported.push(verb),
    });
    expect(measured).toHaveLength(2);
    for (const verbs of measured) {
      expect(verbs.map(({ verb }) => verb)).toEqual(reported);
      for (const { sequential, concurrent, atOnce } of verbs)
        expect([sequential.count, concurrent.count]).toEqual(atOnce === concurrency ? [8, 16] : [2, 4]);
    }
    for (const { store } of opened) {
      expect(await countOf(store)).toBe(size);
      await putToSleep(store);
      expect(await store.due(1)).toEqual([]);
    }
  });
});
