import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { testAdapter } from "@taskbridge/testkit/adapter";
import { toRef } from "../src/execution-ref.ts";
import { jobBench } from "./job-bench.ts";

const scripts = {
  succeeds: `echo '::taskbridge {"result":{"files":14}}'`,
  fails: "echo 'no such file' >&2; exit 2",
  progresses: `echo '::taskbridge {"progress":{"done":1,"total":2}}'; sleep 1`,
  asks: `echo '::taskbridge {"ask":{"key":"approve","message":"?"}}'; read -r input; read -r answer`,
  "runs-until-cancelled": "exec sleep 600",
  "large-output": `printf '::taskbridge {"result":"'; head -c 200000 /dev/zero | tr '\\0' x; echo '"}'`,
};

testAdapter({
  name: "process",
  runner: { describe, it, beforeEach, afterEach, skip: it.skip },
  without: ["heartbeat", "receive", "discover", "stall", "resume"],
  open: async () => {
    const bench = jobBench();
    return {
      adapter: bench.adapter,
      target: (kind) => bench.counted(scripts[kind]),
      unknownRef: toRef("mcp-0"),
      expected: (kind) => (kind === "succeeds" ? { files: 14 } : "x".repeat(200_000)),
      journal: async () => bench.runs(),
      close: bench.close,
    };
  },
});
