import assert from "node:assert/strict";
import { isBridgeError } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { type ContractTarget, type Stage, verb } from "./adapter-contract-stage.ts";

const wholeOrNull = (value: number | null, least: number): boolean =>
  value === null || (Number.isFinite(value) && value >= least);

const configuredKinds = ({ adapter }: Stage): readonly ContractTarget[] => [
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
          traits.start.settleMs >= 0 && traits.start.windowMs > traits.start.settleMs,
          "settleMs must lie within windowMs",
        );
      }
      if (traits.start.kind === "idempotent") {
        const { forMs, settleMs = 0 } = traits.start;
        assert.ok(wholeOrNull(forMs, 1), `forMs: ${forMs}`);
        assert.ok(settleMs >= 0 && settleMs < (forMs ?? Number.POSITIVE_INFINITY), "settleMs must lie within forMs");
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
    run: async (stage) => {
      for (const kind of configuredKinds(stage)) {
        const parsed = stage.target(kind);
        assert.deepEqual(
          JSON.parse(JSON.stringify(stage.adapter.parseTarget(parsed))),
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
    run: async (stage) => {
      const findings = await verb(stage.adapter.check)(
        [stage.target("succeeds"), stage.target("fails")],
        stage.context(),
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
    run: async (stage) => {
      let count = 0;
      for await (const { name, target } of verb(stage.adapter.discover)(undefined, stage.context())) {
        assert.ok(name !== "", "a pipeline has a name");
        stage.adapter.parseTarget(target);
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
