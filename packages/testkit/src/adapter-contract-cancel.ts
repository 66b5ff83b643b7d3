import assert from "node:assert/strict";
import type { ContractCase } from "./adapter-contract-case.ts";
import { verb } from "./adapter-contract-stage.ts";

export const cancelCases: readonly ContractCase[] = [
  {
    name: "stops an execution, asked once or five times at once",
    needs: ["cancel", "inspect"],
    run: async (stage) => {
      for (const times of [1, 5]) {
        const { ref } = await stage.start("runs-until-cancelled");
        await stage.seen(ref, "the execution runs", ({ status }) => status === "running");
        await Promise.all(
          Array.from({ length: times }, () => verb(stage.adapter.cancel)(ref, "test", stage.context())),
        );
        const { status } = await stage.ended(ref);
        assert.equal(status, "cancelled");
        await verb(stage.adapter.cancel)(ref, "test", stage.context());
      }
    },
  },
  {
    name: "stops an execution at once after its start",
    needs: ["cancel", "inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("runs-until-cancelled");
      await verb(stage.adapter.cancel)(ref, "test", stage.context());
      assert.equal((await stage.ended(ref)).status, "cancelled");
    },
  },
  {
    name: "does no harm to an execution that has ended",
    needs: ["cancel", "inspect"],
    run: async (stage) => {
      for (const kind of ["succeeds", "fails"] as const) {
        const { ref } = await stage.start(kind);
        const end = await stage.ended(ref);
        await verb(stage.adapter.cancel)(ref, "test", stage.context());
        assert.deepEqual(await stage.ended(ref), end);
      }
    },
  },
];
