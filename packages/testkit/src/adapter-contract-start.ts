import assert from "node:assert/strict";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, verb } from "./adapter-contract-harness.ts";

export const startCases: readonly ContractCase[] = [
  {
    name: "starts an execution that can be looked at",
    needs: ["inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("succeeds");
      await harness.seen(ref, "the execution is seen", () => true);
      await harness.assertStarted(1);
    },
  },
  {
    name: "starts two executions for two keys",
    run: async (harness) => {
      const [one, two] = await Promise.all([harness.start("succeeds"), harness.start("succeeds")]);
      assert.notEqual(one.ref, two.ref);
      await harness.assertStarted(2);
    },
  },
  {
    name: "gives the same execution when the start is sent again",
    needs: ["idempotent start"],
    run: async (harness) => {
      const key = harness.key();
      const { ref } = await harness.start("succeeds", { key });
      for (const attempt of [1, 2, 3]) assert.equal((await harness.start("succeeds", { key, attempt })).ref, ref);
      await harness.assertStarted(1);
    },
  },
  {
    name: "starts an execution by a repeated start of which nothing has arrived",
    needs: ["idempotent start", "inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("succeeds", { attempt: 2 });
      await harness.ended(ref);
      await harness.assertStarted(1);
    },
  },
  {
    name: "gives one execution when the start is sent five times at once",
    needs: ["idempotent start"],
    run: async (harness) => {
      const key = harness.key();
      const outcomes = await Promise.all([1, 2, 3, 4, 5].map((attempt) => harness.start("succeeds", { key, attempt })));
      assert.equal(new Set(outcomes.map(({ ref }) => ref)).size, 1, "one ref for one key");
      await harness.assertStarted(1);
    },
  },
  {
    name: "gives the same execution when the start is sent again after its end",
    needs: ["idempotent start", "inspect"],
    run: async (harness) => {
      const key = harness.key();
      const { ref } = await harness.start("succeeds", { key });
      const before = await harness.ended(ref);
      const again = await harness.start("succeeds", { key, attempt: 2 });
      assert.deepEqual(await harness.ended(again.ref), before);
      await harness.assertStarted(1);
    },
  },
  {
    name: "starts nothing when the start is sent again after a cancel",
    needs: ["idempotent start", "inspect", "cancel"],
    run: async (harness) => {
      const key = harness.key();
      const { ref } = await harness.start("runs-until-cancelled", { key });
      await verb(harness.adapter.cancel)(ref, "test", harness.context());
      const again = await harness.start("runs-until-cancelled", { key, attempt: 2 });
      assert.equal((await harness.ended(again.ref)).status, "cancelled");
      await harness.assertStarted(1);
    },
  },
  {
    name: "refuses another input under the same key",
    needs: ["idempotent start"],
    run: async (harness) => {
      const key = harness.key();
      await harness.start("succeeds", { key });
      await assertRejects(harness.start("succeeds", { key, input: harness.limits.inputs[1] }), "conflict");
      await harness.assertStarted(1);
    },
  },
];
