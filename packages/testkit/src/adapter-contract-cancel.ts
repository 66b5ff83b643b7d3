import assert from "node:assert/strict";
import type { ContractCase } from "./adapter-contract-case.ts";
import { verb } from "./adapter-contract-harness.ts";

export const cancelCases: readonly ContractCase[] = [
  {
    name: "stops an execution, asked once or five times at once",
    needs: ["cancel", "inspect"],
    run: async (harness) => {
      for (const times of [1, 5]) {
        const { ref } = await harness.start("runs-until-cancelled");
        await harness.seen(ref, "the execution runs", ({ status }) => status === "running");
        await Promise.all(
          Array.from({ length: times }, () => verb(harness.adapter.cancel)(ref, "test", harness.context())),
        );
        const { status } = await harness.ended(ref);
        assert.equal(status, "cancelled");
        await verb(harness.adapter.cancel)(ref, "test", harness.context());
      }
    },
  },
  {
    name: "stops an execution at once after its start",
    needs: ["cancel", "inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("runs-until-cancelled");
      await verb(harness.adapter.cancel)(ref, "test", harness.context());
      assert.equal((await harness.ended(ref)).status, "cancelled");
    },
  },
  {
    name: "does no harm to an execution that has ended",
    needs: ["cancel", "inspect"],
    run: async (harness) => {
      for (const kind of ["succeeds", "fails"] as const) {
        const { ref } = await harness.start(kind);
        const end = await harness.ended(ref);
        await verb(harness.adapter.cancel)(ref, "test", harness.context());
        assert.deepEqual(await harness.ended(ref), end);
      }
    },
  },
];
