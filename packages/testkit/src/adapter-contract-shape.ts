import assert from "node:assert/strict";
import { isBridgeError } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { type ContractTarget, type Harness, verb } from "./adapter-contract-harness.ts";

const wholeOrNull = (value: number | null, min: number): boolean =>
  value === null || (Number.isFinite(value) && value >= min);

const configuredKinds = ({ adapter }: Harness): readonly ContractTarget[] => [
  "succeeds",
  "fails",
  ...(adapter.traits.progress === "none" ? [] : (["progresses"] as const)),
  ...(adapter.answer === undefined ? [] : (["asks"] as const)),
  ...(adapter.cancel === undefined ? [] : (["runs-until-cancelled"] as const)),
  ...(adapter.readOutput === undefined ? [] : (["large-output"] as const)),
];

export const shapeCases: readonly ContractCase[] = [
  {
    name: "says its contract and has the required verbs",
    run: async ({ adapter }) => {
      assert.equal(adapter.contract, 1);
      assert.ok(typeof adapter.kind === "string" && adapter.kind !== "", "kind names the backend");
      assert.ok(adapter.inspect ?? adapter.watch ?? adapter.receive, "one of inspect, watch, receive is required");
    },
  },
  {
    name: "declares traits that agree with its verbs",
    run: async ({ adapter }) => {
      const { traits } = adapter;
      assert.deepEqual(JSON.parse(JSON.stringify(traits)), traits, "traits must survive JSON");
      assert.equal(
        traits.cancel === "none",
        adapter.cancel === undefined,
        "traits.cancel is none exactly without the verb",
      );
      assert.equal(
        traits.questions === "none",
        adapter.answer === undefined,
        "traits.questions is none exactly without answer",
      );
      if (adapter.heartbeat !== undefined) assert.ok(adapter.answer, "heartbeat without answer");
      if (traits.start.kind === "findable") {
        assert.ok(adapter.find, "a findable start needs find");
        assert.ok(
          traits.start.visibilityDelayMs >= 0 && traits.start.windowMs > traits.start.visibilityDelayMs,
          "visibilityDelayMs must lie within windowMs",
        );
      }
      if (traits.start.kind === "idempotent") {
        const { forMs, visibilityDelayMs = 0 } = traits.start;
        assert.ok(wholeOrNull(forMs, 1), `forMs: ${forMs}`);
        assert.ok(
          visibilityDelayMs >= 0 && visibilityDelayMs < (forMs ?? Number.POSITIVE_INFINITY),
          "visibilityDelayMs must lie within forMs",
        );
      }
      assert.ok(
        Number.isSafeInteger(traits.inspectBatch) && traits.inspectBatch >= 1,
        `inspectBatch: ${traits.inspectBatch}`,
      );
      assert.ok(traits.minInspectIntervalMs >= 0, `minInspectIntervalMs: ${traits.minInspectIntervalMs}`);
      for (const name of ["mustInspectWithinMs", "maxPayloadBytes", "retentionMs"] as const) {
        assert.ok(wholeOrNull(traits[name], 1), `${name}: ${traits[name]}`);
      }
    },
  },
  {
    name: "parses its own targets to JSON, again and again",
    run: async (harness) => {
      for (const kind of configuredKinds(harness)) {
        const parsed = harness.target(kind);
        assert.deepEqual(
          JSON.parse(JSON.stringify(harness.adapter.parseTarget(parsed))),
          parsed,
          `a parsed ${kind} target parses to itself`,
        );
      }
    },
  },
  {
    name: "refuses garbage as a target, naming the place",
    run: async ({ adapter }) => {
      for (const garbage of [undefined, null, 7, "", [], {}, { nonsense: true }]) {
        assert.throws(
          () => adapter.parseTarget(garbage),
          (error) => isBridgeError(error) && error.code === "misconfigured" && typeof error.data?.path === "string",
          `${JSON.stringify(garbage)} must be misconfigured, with data.path`,
        );
      }
    },
  },
  {
    name: "finds nothing wrong with good targets",
    needs: ["check"],
    run: async (harness) => {
      const findings = await verb(harness.adapter.check)(
        [harness.target("succeeds"), harness.target("fails")],
        harness.context(),
      );
      for (const finding of findings) {
        assert.notEqual(finding.level, "error", finding.message);
        assert.equal(typeof finding.path, "string");
        assert.equal(finding.code, undefined, "nothing that is not an error is misconfigured");
      }
    },
  },
  {
    name: "discovers pipelines whose targets it accepts",
    needs: ["discover"],
    run: async (harness) => {
      let count = 0;
      for await (const { name, target } of verb(harness.adapter.discover)(undefined, harness.context())) {
        assert.ok(name !== "", "a pipeline has a name");
        harness.adapter.parseTarget(target);
        if (++count === 20) break;
      }
      assert.ok(count > 0, "at least the targets of this suite can be discovered");
    },
  },
  {
    name: "closes twice",
    needs: ["close"],
    run: async ({ adapter }) => {
      await verb(adapter.close)();
      await verb(adapter.close)();
    },
  },
];
