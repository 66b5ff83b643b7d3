import assert from "node:assert/strict";
import type { ContractCase } from "./adapter-contract-case.ts";
import { verb } from "./adapter-contract-harness.ts";

export const findCases: readonly ContractCase[] = [
  {
    name: "finds an execution by its key",
    needs: ["find", "inspect"],
    run: async (harness) => {
      const key = harness.key();
      const firstSentAt = Date.now();
      const { ref } = await harness.start("succeeds", { key });
      await harness.start("succeeds");
      const found = await harness.until("the key is found", async () => {
        const result = await verb(harness.adapter.find)(
          { key, target: harness.target("succeeds"), firstSentAt },
          harness.context(),
        );
        return result === undefined ? { seen: "nothing" } : { result };
      });
      // The texts may differ while a ref evolves; the execution may not.
      assert.deepEqual(await harness.ended(found), await harness.ended(ref));
      await harness.assertStarted(2);
    },
  },
  {
    name: "finds nothing under a key that was never sent",
    needs: ["find"],
    run: async (harness) => {
      await harness.start("succeeds");
      const request = { key: harness.key(), target: harness.target("succeeds"), firstSentAt: Date.now() };
      assert.equal(await verb(harness.adapter.find)(request, harness.context()), undefined);
    },
  },
];
