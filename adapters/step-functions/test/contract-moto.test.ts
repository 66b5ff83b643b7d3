import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "@jest/globals";
import { testAdapter } from "@taskbridge/testkit/adapter";
import { toRef } from "../src/mapping/execution-arn.ts";
import { contractMachines } from "./contract-machines.ts";
import { arnOf, describeMoto, type MotoBench, motoBench } from "./moto-bench.ts";

const large = "x".repeat(200_000);
const names = Object.keys(contractMachines("", ""));

describeMoto("the contract", () => {
  let bench: MotoBench;
  let relay: ReturnType<MotoBench["relay"]>;
  const count = async () => (await Promise.all(names.map(bench.executions))).reduce((sum, some) => sum + some, 0);
  beforeAll(async () => {
    bench = await motoBench();
    for (const [name, states] of Object.entries(contractMachines(bench.queueUrl, large)))
      await bench.machine(name, states);
    relay = bench.relay(["succeeds", "fails"]);
  }, 90_000);
  afterAll(() => relay.stop().then(bench.stop));

  testAdapter({
    name: "stepFunctions",
    runner: { describe, it, beforeEach, afterEach, skip: it.skip },
    without: ["receive", "forget", "resume", "stall"],
    knownFailing: { "closes its question when it is cancelled": "moto does not stop what waits for a token" },
    open: async () => {
      const before = await count();
      return {
        adapter: bench.adapter({ listens: true }),
        target: (kind) => ({ stateMachine: arnOf(kind) }),
        unknownRef: toRef(arnOf("succeeds").replace("stateMachine", "execution").concat(":mcp-0")),
        expected: (kind) => (kind === "succeeds" ? { files: 14 } : large),
        journal: async () => (await count()) - before,
        close: async () => {},
      };
    },
  });
});
