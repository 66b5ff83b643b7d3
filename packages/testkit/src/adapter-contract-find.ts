import assert from "node:assert/strict";
import type { ContractCase } from "./adapter-contract-case.ts";
import { verb } from "./adapter-contract-stage.ts";

export const findCases: readonly ContractCase[] = [
  {
    name: "finds an execution by its key",
    needs: ["find", "inspect"],
    run: async (stage) => {
      const key = stage.key();
      const firstSentAt = Date.now();
      const { ref } = await stage.start("succeeds", { key });
      await stage.start("succeeds");
      const found = await stage.until("the key is found", async () => {
        const result = await verb(stage.adapter.find)(
          { key, target: stage.target("succeeds"), firstSentAt },
          stage.context(),
        );
        return result === undefined ? { seen: "nothing" } : { result };
      });
      // The texts may differ while a ref evolves; the execution may not.
      assert.deepEqual(await stage.ended(found), await stage.ended(ref));
      await stage.assertStarted(2);
    },
  },
  {
    name: "finds nothing under a key that was never sent",
    needs: ["find"],
    run: async (stage) => {
      await stage.start("succeeds");
      const request = { key: stage.key(), target: stage.target("succeeds"), firstSentAt: Date.now() };
      assert.equal(await verb(stage.adapter.find)(request, stage.context()), undefined);
    },
  },
];
