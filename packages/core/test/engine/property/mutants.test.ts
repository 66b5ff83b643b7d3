import { expect, it, jest } from "@jest/globals";
import fc from "fast-check";
import type { ExecutionSnapshot, WorkflowAdapter } from "../../../src/adapter.ts";
import type { TaskRecord } from "../../../src/index.ts";
import type { TaskStore } from "../../../src/store.ts";
import type { Parts } from "./model.ts";

// Inside the engine: what a part of it does instead, while its mutant is the active one.
const transitions = await import("../../../src/engine/state/transitions.ts");
const ownership = await import("../../../src/engine/context/ownership.ts");
const questions = await import("../../../src/engine/state/questions.ts");
let active = "";

type ApplySnapshot = typeof transitions.applySnapshot;
const applySnapshot: ApplySnapshot = (record, snapshot, now, maxReasks) => {
  const reported = active === "a record that holds a secret" ? withSecretsShown(snapshot) : snapshot;
  const after = transitions.applySnapshot(record, reported, now, maxReasks);
  const isBack =
    active === "an end that is taken back" && record.endedAt !== undefined && snapshot.endedAt === undefined;
  if (isBack) return { ...after, record: { ...after.record, state: snapshot.status } };
  if (active === "keys that are used again") return { ...after, record: { ...after.record, minted: record.minted } };
  return after;
};
const withSecretsShown = (snapshot: ExecutionSnapshot): ExecutionSnapshot =>
  snapshot.questions === undefined
    ? snapshot
    : { ...snapshot, questions: snapshot.questions.map((asked) => ({ ...asked, message: `${asked.secret}?` })) };

jest.unstable_mockModule("../../../src/engine/state/transitions.ts", () => ({
  ...transitions,
  applySnapshot,
  withForget: (record: TaskRecord, now: number) =>
    active === "records that stay for ever" ? record : transitions.withForget(record, now),
}));
jest.unstable_mockModule("../../../src/engine/state/questions.ts", () => ({
  ...questions,
  openQuestions: ((asked) =>
    active === "claims that bind nobody"
      ? questions.openQuestions(asked).map(({ claim: _claim, ...question }) => question)
      : questions.openQuestions(asked)) as typeof questions.openQuestions,
}));
const isAnyones = (): boolean => active === "owners that are not told apart";
jest.unstable_mockModule("../../../src/engine/context/ownership.ts", () => ({
  ...ownership,
  isOf: ((record, access) => isAnyones() || ownership.isOf(record, access)) as typeof ownership.isOf,
  requireVisible: ((record, access) => {
    if (isAnyones() && record !== undefined && record.expired !== true) return record;
    const isKept = active === "deleted tasks that are said to have expired" && record !== undefined;
    return ownership.requireVisible(isKept ? { ...record, deleted: false } : record, access);
  }) as typeof ownership.requireVisible,
}));

// It loads others, which must already be with the mutants in them.
const failStart = await import("../../../src/engine/start/fail-start.ts");
jest.unstable_mockModule("../../../src/engine/start/fail-start.ts", () => ({
  ...failStart,
  giveUpStart: ((engine, record, effect, why) =>
    active === "starts that nobody looks for before they fail"
      ? failStart.failUnknownStart(engine, record, effect, why, 0)
      : failStart.giveUpStart(engine, record, effect, why)) as typeof failStart.giveUpStart,
}));

const { scenarios } = await import("./commands.ts");
const { play } = await import("./play.ts");

/** What each mutant replaces around the engine; those with nothing here are inside it. */
const mutants: Readonly<Record<string, Parts>> = {
  "an end that is taken back": {},
  "a record that holds a secret": {},
  "keys that are used again": {},
  "records that stay for ever": {},
  "owners that are not told apart": {},
  "claims that bind nobody": {},
  "starts that nobody looks for before they fail": {},
  "deleted tasks that are said to have expired": {},
  "a client's ID that can be used again": {
    spoilStore: (store) => ({
      ...store,
      create: (record, options) =>
        store.create(record, { ...options, uniqueKeys: options.uniqueKeys.map(({ heldForMs: _, ...key }) => key) }),
    }),
  },
  "a store that does not compare before it swaps": {
    spoilStore: (store) => ({
      ...store,
      revise: async (record, expected, options) =>
        store.revise(record, (await store.read(record.taskId))?.revision ?? expected, options),
    }),
  },
  "a store without limits": {
    spoilStore: (store) => ({
      ...store,
      create: (record, options) => store.create(record, { ...options, maxOpenForOwner: null, maxOpenForTool: null }),
    }),
  },
  "a store that loses a record": {
    spoilStore: (store) => {
      let reads = 0;
      const read: TaskStore["read"] = async (taskId) => {
        if (++reads === 7) await store.remove(taskId);
        return store.read(taskId);
      };
      return { ...store, read };
    },
  },
  "a start that is sent again although that may start twice": {
    spoilAdapter: (adapter) => ({
      ...adapter,
      traits: { ...adapter.traits, start: { kind: "idempotent", forMs: null } },
    }),
  },
  "news that is taken by its key alone": {
    spoilAdapter: (adapter) => {
      const { receive } = adapter;
      const withoutRefs: typeof receive = async (...given) =>
        ((await receive?.(...given)) ?? []).map(({ ref: _ref, ...update }) => update);
      return receive === undefined ? adapter : { ...adapter, receive: withoutRefs };
    },
  },
  "a cancel that nobody hears": { spoilAdapter: withVerb("cancel", async () => {}) },
  "a look that sees nothing": {
    spoilAdapter: withVerb("inspect", async (items: readonly unknown[]) => items.map(() => ({ unavailable: "dark" }))),
  },
  "an answer that says something else": {
    spoilAdapter: (adapter) => {
      const { answer } = adapter;
      return answer === undefined
        ? adapter
        : { ...adapter, answer: (ref, request, context) => answer(ref, { ...request, content: "no" }, context) };
    },
  },
};

function withVerb(verb: "cancel" | "inspect", act: (...given: never[]) => Promise<unknown>) {
  return (adapter: WorkflowAdapter): WorkflowAdapter =>
    adapter[verb] === undefined ? adapter : ({ ...adapter, [verb]: act } as WorkflowAdapter);
}

/** Enough for each of them several times over. */
const numRuns = 1_000;
/** One with which each is found soon. With any other they are found as well, some of them only after hundreds of runs. */
const seed = 24;

it("has nothing to say against the engine as it is", async () => {
  const property = fc.asyncProperty(scenarios(), (scenario) => play(scenario));
  await fc.assert(property, { numRuns: 100, seed });
}, 120_000);

for (const [name, parts] of Object.entries(mutants)) {
  it(`notices ${name}`, async () => {
    active = name;
    const property = fc.asyncProperty(scenarios(), (scenario) => play(scenario, parts));
    const { failed, numRuns: runs } = await fc.check(property, { numRuns, seed, endOnFailure: true });
    active = "";
    expect({ failed, runs }).toEqual({ failed: true, runs: expect.any(Number) });
  }, 120_000);
}
