import type { BenchedStore, StoreKind } from "./benched-store.ts";
import { putToSleep } from "./due-verbs.ts";
import { measurePurge, type PurgeFigures } from "./measure-purge.ts";
import { measureVerbs, type VerbFigures } from "./measure-verbs.ts";
import type { Population } from "./sample-task.ts";
import { checkSeed, createAll, seed } from "./seed.ts";
import { type SeededStore, seededStore } from "./verb.ts";

/** One kind of store, small and large. */
export interface StoreFigures {
  readonly store: string;
  readonly durability: string;
  readonly sizes: readonly SizeFigures[];
  /** With the larger. Absent where nothing was purged. */
  readonly purge?: PurgeFigures;
}

export interface SizeFigures {
  readonly records: number;
  /** Seconds in which the records were written. */
  readonly seedSeconds: number;
  /** Bytes for each record, with its payloads, its indexes and its share of all else. */
  readonly memoryBytesPerTask?: number;
  readonly diskBytesPerTask?: number;
  readonly verbs: readonly VerbFigures[];
}

export interface StoreBenchOptions {
  /** Of the smaller and of the larger store. */
  readonly records: readonly [number, number];
  readonly rounds: number;
  readonly operations: number;
  /** The most time for one verb (milliseconds), beside its first two rounds. */
  readonly verbMs: number;
  /** How many expired records are purged from the larger one. 0: none. */
  readonly purged: number;
  /** Whether the backend keeps something for each of those, which it is told to forget. */
  readonly keeps: boolean;
  /** Told what is being done. */
  readonly log: (what: string) => void;
  /** Told what has been measured, before the purge as well: that takes its time. */
  readonly save: (figures: StoreFigures) => Promise<void>;
}

/** Measures one kind of store with few and with many records, in turn. */
export const measureStore = async (kind: StoreKind, options: StoreBenchOptions): Promise<void> => {
  const benchedStores: BenchedStore[] = [];
  const opened: Seeded[] = [];
  try {
    for (const size of options.records) {
      const benchedStore = await kind.start();
      benchedStores.push(benchedStore);
      options.log(`${kind.name}: ${size} records`);
      opened.push(await openSeeded(benchedStore, size));
    }
    const onVerb = (verb: string): void => options.log(`${kind.name}: ${verb}`);
    const measured = await measureVerbs(
      opened.map(({ seeded }) => seeded),
      { ...options, onVerb },
    );
    const figures: StoreFigures = {
      store: kind.name,
      durability: benchedStores[0]?.durability ?? "",
      sizes: opened.map((one, index) => ({ ...one.figures, verbs: measured[index] ?? [] })),
    };
    await options.save(figures);
    const purge = await purgeLast(kind, benchedStores, opened, options);
    if (purge !== undefined) await options.save({ ...figures, purge });
  } finally {
    for (const { seeded } of opened) await seeded.store.close();
    for (const benchedStore of benchedStores) await benchedStore.close();
  }
};

/** Fills one store of a kind and purges it, without measuring any verb. */
export const measurePurgeAlone = async (kind: StoreKind, options: PurgeBenchOptions): Promise<StoreFigures> => {
  const { records, purged, keeps, log } = options;
  const benchedStore = await kind.start();
  try {
    log(`${kind.name}: ${records} records`);
    const { seeded, figures } = await openSeeded(benchedStore, records);
    try {
      log(`${kind.name}: purging ${purged} expired records`);
      const purge = await measurePurge(kind, benchedStore, seeded, { expired: purged, keeps });
      return { store: kind.name, durability: benchedStore.durability, sizes: [{ ...figures, verbs: [] }], purge };
    } finally {
      await seeded.store.close();
    }
  } finally {
    await benchedStore.close();
  }
};

export type PurgeBenchOptions = Pick<StoreBenchOptions, "purged" | "keeps" | "log"> & { readonly records: number };

interface Seeded {
  readonly seeded: SeededStore;
  readonly figures: Omit<SizeFigures, "verbs">;
}

const openSeeded = async (benchedStore: BenchedStore, size: number): Promise<Seeded> => {
  const store = await benchedStore.open();
  const population: Population = { seed: `bench ${size}`, size, now: store.now() };
  const before = await benchedStore.usage();
  const startedAt = performance.now();
  await seed(population, benchedStore.filling ?? createAll(store), benchedStore.atOnce);
  const seedSeconds = (performance.now() - startedAt) / 1_000;
  await checkSeed(population, store);
  const after = await benchedStore.usage();
  const perTask = (many = 0, few = 0): number => (many - few) / size;
  return {
    seeded: seededStore(store, population),
    figures: {
      records: size,
      seedSeconds,
      ...(after.memoryBytes === undefined
        ? {}
        : { memoryBytesPerTask: perTask(after.memoryBytes, before.memoryBytes) }),
      ...(after.diskBytes === undefined ? {} : { diskBytesPerTask: perTask(after.diskBytes, before.diskBytes) }),
    },
  };
};

const purgeLast = async (
  kind: StoreKind,
  benchedStores: readonly BenchedStore[],
  opened: readonly Seeded[],
  { purged, keeps, log }: StoreBenchOptions,
): Promise<PurgeFigures | undefined> => {
  const benchedStore = benchedStores.at(-1);
  const last = opened.at(-1);
  if (purged === 0 || benchedStore === undefined || last === undefined) return undefined;
  log(`${kind.name}: purging ${purged} expired records`);
  await putToSleep(last.seeded.store);
  return measurePurge(kind, benchedStore, last.seeded, { expired: purged, keeps });
};
