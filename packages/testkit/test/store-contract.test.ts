import { describe, expect, it } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { BridgeError, type TaskRecord, type TaskStore } from "@taskbridge/core/store";
import { fakeClock } from "@taskbridge/testkit";
import { type StoreSuiteOptions, testStore } from "@taskbridge/testkit/store";

type Body = () => Promise<void>;

/** Runs the suite, or one test of it, on memory stores that have been tampered with and returns the names of the tests that failed. */
const failuresOf = async (
  tamper: (store: TaskStore) => Partial<TaskStore>,
  { only, ...options }: Partial<StoreSuiteOptions> & { readonly only?: string } = {},
): Promise<string[]> => {
  const clock = fakeClock();
  const tests: { readonly name: string; readonly body: Body }[] = [];
  const around: { before: Body[]; after: Body[] } = { before: [], after: [] };
  testStore({
    name: "tampered",
    open: async () => {
      const store = memoryStore({ clock });
      return { ...store, ...tamper(store) };
    },
    elapse: (ms) => clock.advance(ms),
    runner: {
      describe: (_, body) => body(),
      it: (name, body) => tests.push({ name, body }),
      beforeEach: (body) => around.before.push(body),
      afterEach: (body) => around.after.push(body),
    },
    ...options,
  });
  const failures: string[] = [];
  for (const { name, body } of tests.filter((test) => only === undefined || test.name === only)) {
    for (const before of around.before) await before();
    await body().catch(() => failures.push(name));
    for (const after of around.after) await after();
  }
  return failures;
};

const pause = (): Promise<void> => new Promise(setImmediate);

/** Forgets its keys with the record. */
const withoutHold = (store: TaskStore): Partial<TaskStore> => ({
  create: (record, options) =>
    store.create(record, { ...options, uniqueKeys: options.uniqueKeys.map(({ heldForMs: _, ...key }) => key) }),
});

/** Each breaks one promise, and the test named must notice. */
const faults: readonly (readonly [
  promise: string,
  noticedBy: string,
  tamper: (store: TaskStore) => Partial<TaskStore>,
])[] = [
  [
    "compare-and-swap",
    "loses and doubles nothing under 50 concurrent revisers",
    (store) => ({
      revise: async (record, _, options) => {
        await pause();
        const stored = await store.read(record.taskId);
        return store.revise(record, stored?.revision ?? 0, options);
      },
    }),
  ],
  [
    "atomic limits",
    "admits no more than the limit when many come at once",
    (store) => ({
      create: async (record, options) => {
        const { records } = await store.list({ owner: record.owner }, { slotHeld: true }, undefined, 100);
        await pause();
        const isRoom = options.maxOpenForOwner === null || records.length < options.maxOpenForOwner;
        return store.create(record, isRoom ? { ...options, maxOpenForOwner: null } : options);
      },
    }),
  ],
  [
    "all or nothing",
    "refuses a taken unique key, naming the holder, and then has written nothing",
    (store) => ({
      create: async (record, options) => {
        const [first, ...rest] = options.uniqueKeys;
        if (first === undefined || rest.length === 0) return store.create(record, options);
        await store.create(
          { ...record, taskId: `${record.taskId}-key` as typeof record.taskId },
          { ...options, uniqueKeys: [first] },
        );
        return store.create(record, { ...options, uniqueKeys: rest });
      },
    }),
  ],
  [
    "keys that outlive their record",
    "leaves keys with `heldForMs` taken, still naming the task, also by its own ID and when it is repeated",
    withoutHold,
  ],
  ["keys that outlive their record", "counts `heldForMs` from the removal, and then frees the key", withoutHold],
  [
    "removed IDs that stay taken",
    "keeps the ID taken for a while, so that a create that was still on its way brings nothing back",
    () => ({ shared: true }),
  ],
  [
    "removed IDs that stay taken, whoever is full",
    "keeps the ID taken for a while, so that a create that was still on its way brings nothing back",
    (store) => {
      const removed = new Set<string>();
      return {
        shared: true,
        remove: async (taskId) => {
          removed.add(taskId);
          return store.remove(taskId);
        },
        create: async (record, options) => {
          const created = await store.create(record, options);
          if (!removed.has(record.taskId)) return created;
          await store.remove(record.taskId);
          throw new BridgeError("conflict", "removed", { data: { taskId: record.taskId } });
        },
      };
    },
  ],
  [
    "keys that are freed at last",
    "counts `heldForMs` from the removal, and then frees the key",
    (store) => ({
      create: (record, options) =>
        store.create(record, { ...options, uniqueKeys: options.uniqueKeys.map((key) => ({ ...key, until: 1e15 })) }),
    }),
  ],
  [
    "open tasks only",
    "counts expired tasks that hold a slot but does not name them, for nobody can do anything about them",
    (store) => ({ revise: async (record, expected) => store.revise({ ...record, expired: false }, expected) }),
  ],
  [
    "unknown members",
    "keeps members that this version does not know",
    (store) => ({
      create: async (record, options) => {
        const { future: _, ...known } = record as typeof record & { readonly future?: unknown };
        return store.create(known, options);
      },
    }),
  ],
  [
    "owners apart",
    "shows an owner only their own, those without an owner only such, and the operator all",
    (store) => ({ list: (_, ...rest) => store.list({ operator: true }, ...rest) }),
  ],
  [
    "private copies",
    "shares no memory with its callers",
    (store) => {
      const shared = new Map<string, TaskRecord>();
      const share = async (record: Promise<TaskRecord>): Promise<TaskRecord> => {
        shared.set((await record).taskId, await record);
        return record;
      };
      return {
        create: (...args) => share(store.create(...args)),
        revise: (...args) => share(store.revise(...args)),
        read: async (taskId) => shared.get(taskId),
      };
    },
  ],
  [
    "order of what is due",
    "hands out what is due, earliest first, and nothing before its time",
    (store) => ({ due: async (limit) => [...(await store.due(limit))].reverse() }),
  ],
  [
    "order of many",
    "are due in one order, and the next wake-up is always known",
    (store) => ({ nextWakeAt: async () => (await store.due(1_000)).at(-1)?.wakeAt ?? null }),
  ],
  [
    "pages of many",
    "are listed in one order, page by page, for the operator too",
    (store) => ({
      list: async (scope, filter, cursor, limit) => {
        const page = await store.list(scope, filter, cursor, limit);
        return { ...page, records: [...page.records].reverse() };
      },
    }),
  ],
  [
    "holders that are there",
    "names no holder that cannot be read",
    (store) => {
      const written = new Set<string>();
      return {
        create: async (record, options) => {
          const created = await store.create(record, options);
          await pause();
          written.add(record.taskId);
          return created;
        },
        read: async (taskId) => (written.has(taskId) ? store.read(taskId) : undefined),
      };
    },
  ],
  [
    "ranges",
    "are read by range, cut off at the end",
    (store) => ({
      readPayload: (taskId, name, { offset, length }) =>
        store.readPayload(taskId, name, { offset, length: length + 1 }),
    }),
  ],
  [
    "atomic limits, of tools beside owners",
    "keeps the limits of owners and tools at once",
    (store) => ({
      create: async (record, options) => {
        const { records } = await store.list({ operator: true }, { tool: record.tool, slotHeld: true }, undefined, 100);
        await pause();
        const isRoom = options.maxOpenForTool === null || records.length < options.maxOpenForTool;
        return store.create(record, isRoom ? { ...options, maxOpenForTool: null } : options);
      },
    }),
  ],
  [
    "names that are told apart",
    "tells long and unprintable names apart",
    (store) => ({
      values: {
        read: (name) => store.values.read(name.slice(0, 4_000)),
        write: (name, value, previous) => store.values.write(name.slice(0, 4_000), value, previous),
      },
    }),
  ],
  [
    "instants as they come",
    "keeps fractions of a millisecond, in what is due and from page to page",
    (store) => ({
      create: (record, options) => store.create({ ...record, createdAt: Math.floor(record.createdAt) }, options),
    }),
  ],
  [
    "an answer to whatever is asked for",
    "knows nothing of IDs that nobody could have created, and says no more of them",
    (store) => ({
      read: async (taskId) => {
        if (taskId.includes("\0")) throw new BridgeError("internal", "invalid byte sequence");
        return store.read(taskId);
      },
    }),
  ],
  [
    "leases that end",
    "ends by itself, and a lost one can neither be renewed nor release its heir's",
    (store) => ({ lease: (name) => store.lease(name, 1e12) }),
  ],
];

describe("testStore", () => {
  it.each(faults)("notices a store that breaks its promise of %s", async (_, noticedBy, tamper) => {
    expect(await failuresOf(tamper, { only: noticedBy })).toEqual([noticedBy]);
    expect(await failuresOf(() => ({}), { only: noticedBy })).toEqual([]);
  });

  it("lets a known gap fail, and reports one that no longer does", async () => {
    const names = [
      "keeps values by name, the one written last",
      "refuses a write whose caller does not know the present value",
      "lets exactly one of many concurrent writers through",
      "keeps a value of 1 MiB, and refuses a longer one as `invalid_input`",
      "tells long and unprintable names apart",
    ];
    const knownFailing = Object.fromEntries(names.map((name) => [name, "values are not kept yet"]));
    const forgetful = (store: TaskStore): Partial<TaskStore> => ({
      values: { ...store.values, read: async () => undefined },
    });
    expect(await failuresOf(forgetful)).toEqual(names);
    expect(await failuresOf(forgetful, { knownFailing })).toEqual([]);
    expect(await failuresOf(() => ({}), { knownFailing })).toEqual(names);
  });

  it("refuses a known gap that names no test", async () => {
    await expect(failuresOf(() => ({}), { knownFailing: { "no such test": "a typo" } })).rejects.toThrow(
      "no such test",
    );
  });
});
