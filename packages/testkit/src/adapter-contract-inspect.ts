import assert from "node:assert/strict";
import { asExecutionRef, type ExecutionRef, type InspectItem } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import type { Harness } from "./adapter-contract-harness.ts";

const statusOf = (ref: ExecutionRef): InspectItem => ({ ref, want: "status" });

/** Refs of two executions that have succeeded and one between them that has failed. */
const threeEnded = async (harness: Harness): Promise<readonly [ExecutionRef, ExecutionRef, ExecutionRef]> => {
  const [one, two, three] = await Promise.all([
    harness.start("succeeds"),
    harness.start("fails"),
    harness.start("succeeds"),
  ]);
  await Promise.all([harness.ended(one.ref), harness.ended(two.ref), harness.ended(three.ref)]);
  return [one.ref, two.ref, three.ref];
};

const statuses = async (harness: Harness, refs: readonly ExecutionRef[]): Promise<readonly string[]> => {
  const { inspectBatch } = harness.adapter.traits;
  const found: string[] = [];
  for (let from = 0; from < refs.length; from += inspectBatch) {
    const outcomes = await harness.inspect(refs.slice(from, from + inspectBatch).map(statusOf));
    found.push(...outcomes.map((outcome) => ("snapshot" in outcome ? outcome.snapshot.status : "no snapshot")));
  }
  return found;
};

export const inspectCases: readonly ContractCase[] = [
  {
    name: "answers in the order of the items, the same one twice as well",
    needs: ["inspect"],
    run: async (harness) => {
      const [good, bad, other] = await threeEnded(harness);
      assert.deepEqual(await statuses(harness, [good, other, bad]), ["succeeded", "succeeded", "failed"]);
      assert.deepEqual(await statuses(harness, [bad, good, bad]), ["failed", "succeeded", "failed"]);
      assert.deepEqual(await harness.inspect([]), []);
    },
  },
  {
    name: "takes as many items as it says",
    needs: ["inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("succeeds");
      await harness.ended(ref);
      const count = Math.min(harness.adapter.traits.inspectBatch, 200);
      const outcomes = await harness.inspect(Array.from({ length: count }, () => statusOf(ref)));
      assert.ok(outcomes.every((outcome) => "snapshot" in outcome && outcome.snapshot.status === "succeeded"));
    },
  },
  {
    name: "tells of an unknown execution among good ones, without harm to them",
    needs: ["inspect"],
    run: async (harness) => {
      const [good, bad] = await threeEnded(harness);
      const outcomes = await inspectTogether(harness, [harness.underTest.unknownRef], good, bad);
      const [unknown] = outcomes;
      // Some backends cannot tell an unknown execution from one that still waits for its turn.
      const admitted =
        unknown !== undefined &&
        ("notFound" in unknown ||
          "error" in unknown ||
          ("snapshot" in unknown && unknown.snapshot.status === "queued"));
      assert.ok(admitted, `an unknown execution is not found, got ${JSON.stringify(unknown)}`);
    },
  },
  {
    name: "tells of unreadable refs among good ones, without harm to them",
    needs: ["inspect"],
    run: async (harness) => {
      const [good, bad] = await threeEnded(harness);
      for (const garbage of ["", "garbage", "{}", "[]", "null", '{"x":']) {
        const [outcome] = await inspectTogether(harness, [asExecutionRef(garbage)], good, bad);
        const reported = outcome !== undefined && ("error" in outcome || "notFound" in outcome);
        assert.ok(reported, `${JSON.stringify(garbage)} is an error or not found, got ${JSON.stringify(outcome)}`);
      }
    },
  },
  {
    name: "tells a success with its output",
    needs: ["inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("succeeds");
      const { status, output } = await harness.ended(ref);
      assert.equal(status, "succeeded");
      const expected = harness.underTest.expected?.("succeeds");
      if (expected !== undefined)
        assert.deepEqual(
          output?.kind === "json" ? output.value : output?.kind === "text" ? output.text : output,
          expected,
        );
    },
  },
  {
    name: "tells a failure with its reason",
    needs: ["inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("fails");
      const { status, failure } = await harness.ended(ref);
      assert.equal(status, "failed");
      assert.equal(failure?.kind, "job", "a job that failed is a failure of the job");
    },
  },
  {
    name: "tells the same end whenever it is asked, in status and in detail",
    needs: ["inspect"],
    run: async (harness) => {
      for (const kind of ["succeeds", "fails"] as const) {
        const { ref } = await harness.start(kind);
        const { status, output, failure, endedAt } = await harness.ended(ref);
        for (const want of ["status", "detail"] as const) {
          const again = await harness.seen(ref, "the end is still known", () => true, want);
          assert.deepEqual(
            [again.status, again.output, again.failure, again.endedAt],
            [status, output, failure, endedAt],
          );
        }
      }
    },
  },
  {
    name: "understands the first ref as well as the newest",
    needs: ["inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("succeeds");
      const end = await harness.ended(ref);
      const outcome = await harness.inspectOne(ref);
      const newest = ("snapshot" in outcome ? outcome.ref : undefined) ?? ref;
      assert.deepEqual(await harness.ended(newest), end);
    },
  },
  {
    name: "tells progress",
    needs: ["inspect", "progress"],
    run: async (harness) => {
      const { ref } = await harness.start("progresses");
      const counted = harness.adapter.traits.progress === "counted";
      await harness.seen(
        ref,
        "progress is seen",
        ({ progress }) => (counted ? progress?.done !== undefined : progress?.message !== undefined),
        "detail",
      );
      assert.equal((await harness.ended(ref)).status, "succeeded");
    },
  },
];

/** The outcomes of `refs`, which were asked for together with a good execution before and a failed one behind. */
const inspectTogether = async (
  harness: Harness,
  refs: readonly ExecutionRef[],
  good: ExecutionRef,
  bad: ExecutionRef,
) => {
  if (harness.adapter.traits.inspectBatch < refs.length + 2) return harness.inspect(refs.map(statusOf));
  const outcomes = await harness.inspect([good, ...refs, bad].map(statusOf));
  const [first, last] = [outcomes[0], outcomes.at(-1)];
  assert.ok(
    first !== undefined && "snapshot" in first && first.snapshot.status === "succeeded",
    `harm done to the item before: ${JSON.stringify(first)}`,
  );
  assert.ok(
    last !== undefined && "snapshot" in last && last.snapshot.status === "failed",
    `harm done to the item behind: ${JSON.stringify(last)}`,
  );
  return outcomes.slice(1, -1);
};
