import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { testAdapter } from "@taskbridge/testkit/adapter";
import { toRef } from "../src/mapping/execution-arn.ts";
import { countStarted, facadeBench, largeText } from "./facade-bench.ts";

testAdapter({
  name: "stepFunctions",
  runner: { describe, it, beforeEach, afterEach, skip: it.skip },
  without: ["receive", "watch", "forget"],
  open: async () => {
    const { facade, adapter, target } = await facadeBench();
    return {
      adapter,
      target,
      unknownRef: toRef("arn:aws:states:eu-west-1:123456789012:execution:succeeds:mcp-0"),
      expected: (kind) => (kind === "succeeds" ? { files: 14 } : largeText),
      journal: async () => countStarted(facade),
      stall: async () => facade.setFaults({ isFrozen: true }),
      close: facade.close,
    };
  },
});
