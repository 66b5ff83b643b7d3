import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { testAdapter } from "@taskbridge/testkit/adapter";
import { toRef } from "../src/mapping/execution-name.ts";
import { fakeBench, largeText } from "./fake-bench.ts";

testAdapter({
  name: "cloudWorkflows",
  runner: { describe, it, beforeEach, afterEach, skip: it.skip },
  without: ["receive", "watch", "forget", "heartbeat", "idempotent start"],
  open: async () => {
    const { fake, adapter, target } = await fakeBench();
    const { project, location } = fake;
    return {
      adapter,
      target,
      unknownRef: toRef(`projects/${project}/locations/${location}/workflows/succeeds/executions/none`),
      expected: (kind) => (kind === "succeeds" ? { files: 14 } : largeText),
      journal: async () => fake.journal.starts.length,
      stall: async () => fake.setFaults({ isFrozen: true }),
      close: fake.close,
    };
  },
});
