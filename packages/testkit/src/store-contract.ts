import { setTimeout as sleep } from "node:timers/promises";
import { removedIdReservedMs, type TaskStore } from "@taskbridge/core/store";
import { testCreate } from "./store-contract-create.ts";
import { testDescription } from "./store-contract-description.ts";
import { testLimits } from "./store-contract-limits.ts";
import { testList } from "./store-contract-list.ts";
import { testMany } from "./store-contract-many.ts";
import { testOddValues } from "./store-contract-odd-values.ts";
import { testPayloads } from "./store-contract-payloads.ts";
import { testRaces } from "./store-contract-races.ts";
import { testRevise } from "./store-contract-revise.ts";
import { testSharing } from "./store-contract-sharing.ts";
import { testTime } from "./store-contract-time.ts";
import { testValues } from "./store-contract-values.ts";
import type { StoreSuite, StoreSuiteRunner } from "./store-suite.ts";

export { createSample, type SampleOverrides, sampleRecord } from "./store-sample.ts";
export type { StoreSuiteRunner } from "./store-suite.ts";

export interface StoreSuiteOptions {
  /** Heads the report. */
  readonly name: string;
  /** Opens an empty store. Called before each test; the suite closes what it opened. */
  readonly open: () => Promise<TaskStore>;
  /** Opens another handle to what `open` opened last, whether or not that is closed. Absent: a store that lives and dies with one handle. */
  readonly reopen?: () => Promise<TaskStore>;
  /** Lets at least `ms` pass by the store's clock. Default: really waits; with a fake clock, advance it. */
  readonly elapse?: (ms: number) => Promise<void>;
  /** Ends the time for which removed IDs stay taken, as if it had passed: it is too long to be waited for. Default: elapses it. */
  readonly elapseRemovals?: () => Promise<void>;
  readonly runner: StoreSuiteRunner;
  /** Names of tests that are known to fail, with the reason. One that passes after all fails the suite, so that the list stays true. */
  readonly knownFailing?: Readonly<Record<string, string>>;
}

/** Registers the tests that every `TaskStore` must pass: each promise of its contract that can be seen from outside. */
export const testStore = (options: StoreSuiteOptions): void => {
  const { name, open, reopen, runner, knownFailing = {} } = options;
  const { elapse = async (ms) => void (await sleep(ms)), elapseRemovals = () => elapse(removedIdReservedMs) } = options;
  const handles: TaskStore[] = [];
  const unseen = new Set(Object.keys(knownFailing));
  const keep = async (opening: Promise<TaskStore>): Promise<TaskStore> => {
    const handle = await opening;
    handles.push(handle);
    return handle;
  };

  const store = (): TaskStore => {
    const [first] = handles;
    if (first === undefined) throw new Error("the store is open only while a test runs");
    return first;
  };
  const suite: StoreSuite = {
    store,
    reopen: reopen && (() => keep(reopen())),
    elapse,
    elapseRemovals: async () => {
      if (store().shared) await elapseRemovals();
    },
    describe: runner.describe,
    it: (title, body) => {
      unseen.delete(title);
      return runner.it(title, expectKnownFailure(knownFailing[title], body));
    },
  };

  runner.describe(`${name}: store contract`, () => {
    runner.beforeEach(async () => void (await keep(open())));
    runner.afterEach(async () => {
      for (const handle of handles.splice(0)) await handle.close();
    });
    const parts = [
      testCreate,
      testDescription,
      testLimits,
      testRevise,
      testList,
      testTime,
      testValues,
      testPayloads,
      testRaces,
      testOddValues,
      testMany,
    ];
    for (const part of [...parts, testSharing]) part(suite);
  });
  if (unseen.size > 0)
    throw new Error(`known to fail, but not a test of the store contract: ${[...unseen].join("; ")}`);
};

const expectKnownFailure = (reason: string | undefined, body: () => Promise<void>): (() => Promise<void>) => {
  if (reason === undefined) return body;
  return async () => {
    const failed = await body().then(
      () => false,
      () => true,
    );
    if (!failed) throw new Error(`passes, although it is listed as known to fail: ${reason}`);
  };
};
