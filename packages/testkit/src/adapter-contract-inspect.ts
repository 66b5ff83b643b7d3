import assert from "node:assert/strict";
import { asExecutionRef, type ExecutionRef, type InspectItem } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import type { Stage } from "./adapter-contract-stage.ts";

const statusOf = (ref: ExecutionRef): InspectItem => ({ ref, want: "status" });

/** Refs of two executions that have succeeded and one between them that has failed. */
const threeEnded = async (stage: Stage): Promise<readonly [ExecutionRef, ExecutionRef, ExecutionRef]> => {
  const [one, two, three] = await Promise.all([stage.start("succeeds"), stage.start("fails"), stage.start("succeeds")]);
  await Promise.all([stage.ended(one.ref), stage.ended(two.ref), stage.ended(three.ref)]);
  return [one.ref, two.ref, three.ref];
};

const statuses = async (stage: Stage, refs: readonly ExecutionRef[]): Promise<readonly string[]> => {
  const { inspectBatch } = stage.adapter.traits;
  const found: string[] = [];
  for (let from = 0; from < refs.length; from += inspectBatch) {
    const outcomes = await stage.inspect(refs.slice(from, from + inspectBatch).map(statusOf));
    found.push(...outcomes.map((outcome) => ("snapshot" in outcome ? outcome.snapshot.status : "no snapshot")));
  }
  return found;
};

export const inspectCases: readonly ContractCase[] = [
  {
    name: "answers in the order of the items, the same one twice as well",
    needs: ["inspect"],
    run: async (stage) => {
      const [good, bad, other] = await threeEnded(stage);
      assert.deepEqual(await statuses(stage, [good, other, bad]), ["succeeded", "succeeded", "failed"]);
      assert.deepEqual(await statuses(stage, [bad, good, bad]), ["failed", "succeeded", "failed"]);
      assert.deepEqual(await stage.inspect([]), []);
    },
  },
  {
    name: "takes as many items as it says",
    needs: ["inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("succeeds");
      await stage.ended(ref);
      const count = Math.min(stage.adapter.traits.inspectBatch, 200);
      const outcomes = await stage.inspect(Array.from({ length: count }, () => statusOf(ref)));
      assert.ok(outcomes.every((outcome) => "snapshot" in outcome && outcome.snapshot.status === "succeeded"));
    },
  },
  {
    name: "tells of an unknown execution among good ones, without harm to them",
    needs: ["inspect"],
    run: async (stage) => {
      const [good, bad] = await threeEnded(stage);
      const outcomes = await inspectBeside(stage, [stage.underTest.unknownRef], good, bad);
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
    run: async (stage) => {
      const [good, bad] = await threeEnded(stage);
      for (const garbage of ["", "garbage", "{}", "[]", "null", '{"x":']) {
        const [outcome] = await inspectBeside(stage, [asExecutionRef(garbage)], good, bad);
        const told = outcome !== undefined && ("error" in outcome || "notFound" in outcome);
        assert.ok(told, `${JSON.stringify(garbage)} is an error or not found, got ${JSON.stringify(outcome)}`);
      }
    },
  },
  {
    name: "tells a success with its output",
    needs: ["inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("succeeds");
      const { status, output } = await stage.ended(ref);
      assert.equal(status, "succeeded");
      const expected = stage.underTest.expected?.("succeeds");
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
    run: async (stage) => {
      const { ref } = await stage.start("fails");
      const { status, failure } = await stage.ended(ref);
      assert.equal(status, "failed");
      assert.equal(failure?.kind, "job", "a job that failed is a failure of the job");
    },
  },
  {
    name: "tells the same end whenever it is asked, in status and in detail",
    needs: ["inspect"],
    run: async (stage) => {
      for (const kind of ["succeeds", "fails"] as const) {
        const { ref } = await stage.start(kind);
        const { status, output, failure, endedAt } = await stage.ended(ref);
        for (const want of ["status", "detail"] as const) {
          const again = await stage.seen(ref, "the end is still known", () => true, want);
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
    run: async (stage) => {
      const { ref } = await stage.start("succeeds");
      const end = await stage.ended(ref);
      const outcome = await stage.look(ref);
      const newest = ("snapshot" in outcome ? outcome.ref : undefined) ?? ref;
      assert.deepEqual(await stage.ended(newest), end);
    },
  },
  {
    name: "tells progress",
    needs: ["inspect", "progress"],
    run: async (stage) => {
      const { ref } = await stage.start("progresses");
      const counted = stage.adapter.traits.progress === "counted";
      await stage.seen(
        ref,
        "progress is seen",
        ({ progress }) => (counted ? progress?.done !== undefined : progress?.message !== undefined),
        "detail",
      );
      assert.equal((await stage.ended(ref)).status, "succeeded");
    },
  },
];

/** The outcomes of `refs`, which were asked for together with a good execution before and a failed one behind. */
const inspectBeside = async (stage: Stage, refs: readonly ExecutionRef[], good: ExecutionRef, bad: ExecutionRef) => {
  if (stage.adapter.traits.inspectBatch < refs.length + 2) return stage.inspect(refs.map(statusOf));
  const outcomes = await stage.inspect([good, ...refs, bad].map(statusOf));
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
