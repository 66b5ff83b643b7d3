import assert from "node:assert/strict";
import { isEnded, within } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, verb } from "./adapter-contract-harness.ts";

/** A verb that does not answer is given up by its signal, within a fraction of the deadline. */
const promptMs = 2_000;

const settlesPromptly = async (name: string, promise: Promise<unknown>): Promise<void> => {
  const settled = promise.then(
    () => true,
    () => true,
  );
  assert.ok(await within(settled, promptMs), `${name} goes on ${promptMs} ms after its signal`);
};

export const signalCases: readonly ContractCase[] = [
  {
    name: "rejects a start whose signal has already fired",
    run: async (harness) => {
      const request = {
        key: harness.key(),
        target: harness.target("succeeds"),
        input: harness.limits.inputs[0],
        attempt: 1,
      };
      await assertRejects(harness.adapter.start(request, harness.context(AbortSignal.abort())));
      await harness.assertStarted(0);
    },
  },
  {
    name: "gives up calls to a silent backend when their signal fires",
    needs: ["stall"],
    run: async (harness) => {
      const { adapter } = harness;
      const { ref } = await harness.start("succeeds");
      await verb(harness.underTest.stall)();
      const abort = new AbortController();
      const context = harness.context(abort.signal);
      const target = harness.target("succeeds");
      const start = adapter.start({ key: harness.key(), target, input: harness.limits.inputs[0], attempt: 1 }, context);
      const cancel = adapter.cancel?.(ref, "test", context);
      const find = adapter.find?.({ key: harness.key(), target, firstSentAt: Date.now() }, context);
      const inspect = adapter.inspect?.([{ ref, want: "status" }], context);
      const rejecting = [start, cancel, find].filter((call) => call !== undefined);
      const checks = Promise.all(rejecting.map((call) => assertRejects(call)));
      setTimeout(() => abort.abort(), harness.limits.pauseMs);
      await settlesPromptly("a call", Promise.allSettled([...rejecting, inspect]));
      await checks;
      const outcomes = await inspect?.catch(() => []);
      assert.ok(
        !outcomes?.some((outcome) => "snapshot" in outcome && isEnded(outcome.snapshot.status)),
        "a silent backend tells nothing",
      );
    },
  },
];
