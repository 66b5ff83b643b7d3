import type { TaskStore } from "@taskbridge/core/store";

/** The part of a test runner that the suite uses; Jest's and Vitest's globals fit, and so do the exports of `node:test`. */
export interface StoreSuiteRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
  beforeEach(body: () => Promise<void>): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

/** What the parts of the suite work with. */
export interface StoreSuite {
  /** The store of the running test. */
  readonly store: () => TaskStore;
  /** Another handle to it, closed by the suite. */
  readonly reopen: (() => Promise<TaskStore>) | undefined;
  readonly elapse: (ms: number) => Promise<void>;
  /** Until IDs that were removed may be created again. */
  readonly elapseRemovals: () => Promise<void>;
  readonly describe: StoreSuiteRunner["describe"];
  readonly it: StoreSuiteRunner["it"];
}
