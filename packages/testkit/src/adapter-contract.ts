import assert from "node:assert/strict";
import { cancelCases } from "./adapter-contract-cancel.ts";
import { type AdapterFeature, type ContractCase, missingFeatures } from "./adapter-contract-case.ts";
import { eventCases } from "./adapter-contract-events.ts";
import { findCases } from "./adapter-contract-find.ts";
import { type AdapterUnderTest, type Harness, openHarness } from "./adapter-contract-harness.ts";
import { inspectCases } from "./adapter-contract-inspect.ts";
import { outputCases } from "./adapter-contract-output.ts";
import { questionCases } from "./adapter-contract-questions.ts";
import { shapeCases } from "./adapter-contract-shape.ts";
import { signalCases } from "./adapter-contract-signals.ts";
import { startCases } from "./adapter-contract-start.ts";

/** The functions of a test runner: Jest, Vitest and node:test all have them. */
export interface AdapterTestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
  beforeEach(body: () => Promise<void>): unknown;
  afterEach(body: () => Promise<void>): unknown;
  /** Lists a case that does not apply. Default: it is left out. */
  skip?(name: string, body: () => Promise<void>): unknown;
}

export interface AdapterContractOptions {
  readonly name: string;
  readonly runner: AdapterTestRunner;
  /** Called before each case. */
  open(): Promise<AdapterUnderTest>;
  /** What this adapter does not have. Their cases are skipped; a list that is not the truth fails. */
  readonly without: readonly AdapterFeature[];
  /** Cases that fail, by name, each with the reason. One that passes fails the suite until it is taken off the list. */
  readonly knownFailing?: Readonly<Record<string, string>>;
  /** How long the backend may take for anything (milliseconds). Default 10,000. */
  readonly deadlineMs?: number;
  /** Between two looks (milliseconds). Default 20. */
  readonly pauseMs?: number;
  /** Two different inputs that every target takes. Default: `{"n":1}` and `{"n":2}`. */
  readonly inputs?: readonly [string, string];
}

const groups: readonly (readonly [name: string, cases: readonly ContractCase[]])[] = [
  ["shape", shapeCases],
  ["start", startCases],
  ["find", findCases],
  ["inspect", inspectCases],
  ["cancel", cancelCases],
  ["signals", signalCases],
  ["questions", questionCases],
  ["events", eventCases],
  ["output", outputCases],
];

/**
 * The contract of adapters as tests, for adapters of ours and of others. Give it the functions of a test runner and a way
 * to make an adapter on a backend that runs the kinds of `ContractTarget`; it registers one test for each promise.
 */
export const testAdapter = (options: AdapterContractOptions): void => {
  const { runner, without, knownFailing = {} } = options;
  const { deadlineMs = 10_000, pauseMs = 20, inputs = ['{"n":1}', '{"n":2}'] } = options;
  const timeoutMs = deadlineMs * 4;
  let harness: Harness | undefined;

  const withHarness = (run: (harness: Harness) => Promise<void>) => async (): Promise<void> => {
    assert.ok(harness, "the adapter could not be opened");
    await run(harness);
  };

  runner.describe(`${options.name} keeps the adapter contract`, () => {
    runner.beforeEach(async () => {
      harness = await openHarness(await options.open(), { deadlineMs, pauseMs, inputs });
    });
    runner.afterEach(async () => {
      const done = harness;
      harness = undefined;
      await done?.dispose();
    });

    runner.it(
      "is without exactly what it says",
      withHarness(async ({ underTest }) => {
        const truth = missingFeatures(underTest);
        const declared = without.filter((feature) => feature !== "resume");
        assert.deepEqual([...declared].sort(), [...truth].sort(), "option `without`");
      }),
      timeoutMs,
    );

    for (const [group, cases] of groups) {
      runner.describe(group, () => {
        for (const { name, needs = [], run } of cases) {
          const lacks = needs.filter((feature) => without.includes(feature));
          const reason = knownFailing[name];
          if (lacks.length > 0) runner.skip?.(`${name} (without ${lacks.join(", ")})`, async () => {});
          else if (reason === undefined) runner.it(name, withHarness(run), timeoutMs);
          else runner.it(`${name} (known to fail: ${reason})`, withHarness(failing(run)), timeoutMs);
        }
      });
    }

    runner.it(
      "has no known failure of a case that does not exist",
      async () => {
        const names = groups.flatMap(([, cases]) => cases.map(({ name }) => name));
        assert.deepEqual(
          Object.keys(knownFailing).filter((name) => !names.includes(name)),
          [],
        );
      },
      timeoutMs,
    );
  });
};

const failing =
  (run: (harness: Harness) => Promise<void>) =>
  async (harness: Harness): Promise<void> => {
    const failed = await run(harness).then(
      () => false,
      () => true,
    );
    assert.ok(failed, "passes now: take it off the list of known failures");
  };
