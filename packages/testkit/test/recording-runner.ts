import type { AdapterTestRunner } from "../src/adapter.ts";

type Body = () => Promise<void>;

export interface Recording {
  readonly runner: AdapterTestRunner;
  readonly skipped: readonly string[];
  readonly names: readonly string[];
  /** Runs the cases with their hooks, one after the other, and tells what each threw. Default: all. */
  run(only?: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
}

/** A test runner that only notes what it is given, so that a suite can itself be tested. */
export const recordingRunner = (): Recording => {
  const cases = new Map<string, Body>();
  const before: Body[] = [];
  const after: Body[] = [];
  const skipped: string[] = [];
  return {
    runner: {
      describe: (_name, body) => body(),
      it: (name, body) => cases.set(name, body),
      beforeEach: (body) => before.push(body),
      afterEach: (body) => after.push(body),
      skip: (name) => skipped.push(name),
    },
    skipped,
    get names() {
      return [...cases.keys()];
    },
    run: async (only) => {
      const failures = new Map<string, unknown>();
      for (const name of only ?? cases.keys()) {
        const body = cases.get(name);
        if (body === undefined) throw new Error(`no case "${name}"`);
        for (const hook of before) await hook();
        for (const step of [body, ...after]) await step().catch((error: unknown) => failures.set(name, error));
      }
      return failures;
    },
  };
};
