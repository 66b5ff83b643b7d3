import assert from "node:assert/strict";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, verb } from "./adapter-contract-stage.ts";

export const startCases: readonly ContractCase[] = [
  {
    name: "starts an execution that can be looked at",
    needs: ["inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("succeeds");
      await stage.seen(ref, "the execution is seen", () => true);
      await stage.assertStarted(1);
    },
  },
  {
    name: "starts two executions for two keys",
    run: async (stage) => {
      const [one, two] = await Promise.all([stage.start("succeeds"), stage.start("succeeds")]);
      assert.notEqual(one.ref, two.ref);
      await stage.assertStarted(2);
    },
  },
  {
    name: "gives the same execution when the start is sent again",
    needs: ["idempotent start"],
    run: async (stage) => {
      const key = stage.key();
      const { ref } = await stage.start("succeeds", { key });
      for (const attempt of [1, 2, 3]) assert.equal((await stage.start("succeeds", { key, attempt })).ref, ref);
      await stage.assertStarted(1);
    },
  },
  {
    name: "starts an execution by a repeated start of which nothing has arrived",
    needs: ["idempotent start", "inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("succeeds", { attempt: 2 });
      await stage.ended(ref);
      await stage.assertStarted(1);
    },
  },
  {
    name: "gives one execution when the start is sent five times at once",
    needs: ["idempotent start"],
    run: async (stage) => {
      const key = stage.key();
      const outcomes = await Promise.all([1, 2, 3, 4, 5].map((attempt) => stage.start("succeeds", { key, attempt })));
      assert.equal(new Set(outcomes.map(({ ref }) => ref)).size, 1, "one ref for one key");
      await stage.assertStarted(1);
    },
  },
  {
    name: "gives the same execution when the start is sent again after its end",
    needs: ["idempotent start", "inspect"],
    run: async (stage) => {
      const key = stage.key();
      const { ref } = await stage.start("succeeds", { key });
      const before = await stage.ended(ref);
      const again = await stage.start("succeeds", { key, attempt: 2 });
      assert.deepEqual(await stage.ended(again.ref), before);
      await stage.assertStarted(1);
    },
  },
  {
    name: "starts nothing when the start is sent again after a cancel",
    needs: ["idempotent start", "inspect", "cancel"],
    run: async (stage) => {
      const key = stage.key();
      const { ref } = await stage.start("runs-until-cancelled", { key });
      await verb(stage.adapter.cancel)(ref, "test", stage.context());
      const again = await stage.start("runs-until-cancelled", { key, attempt: 2 });
      assert.equal((await stage.ended(again.ref)).status, "cancelled");
      await stage.assertStarted(1);
    },
  },
  {
    name: "refuses another input under the same key",
    needs: ["idempotent start"],
    run: async (stage) => {
      const key = stage.key();
      await stage.start("succeeds", { key });
      await assertRejects(stage.start("succeeds", { key, input: stage.limits.inputs[1] }), "conflict");
      await stage.assertStarted(1);
    },
  },
];
