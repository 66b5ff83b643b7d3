import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "@jest/globals";
import { testAdapter } from "@taskbridge/testkit/adapter";
import { toRef } from "../src/mapping/execution-name.ts";
import { contractWorkflows } from "./contract-workflows.ts";
import { type GcwBench, gcwBench, nameOf } from "./gcw-bench.ts";

/** A workflow's source has 128 KiB at most. */
const large = "x".repeat(100_000);
const sources = contractWorkflows(large);

describe("the contract", () => {
  let bench: GcwBench;
  const count = async () =>
    (await Promise.all(Object.keys(sources).map(bench.executions))).reduce((sum, { length }) => sum + length, 0);
  beforeAll(async () => {
    bench = await gcwBench();
    for (const [name, source] of Object.entries(sources)) await bench.deploy(name, source);
  }, 60_000);
  afterAll(() => bench.stop());

  testAdapter({
    name: "cloudWorkflows",
    runner: { describe, it, beforeEach, afterEach, skip: it.skip },
    without: ["receive", "watch", "forget", "heartbeat", "idempotent start", "stall"],
    open: async () => {
      const before = await count();
      return {
        adapter: bench.adapter(),
        target: (kind) => ({ workflow: kind }),
        unknownRef: toRef(`${nameOf("succeeds")}/executions/none`),
        expected: (kind) => (kind === "succeeds" ? { files: 14 } : large),
        journal: async () => (await count()) - before,
        close: async () => {},
      };
    },
  });
});
