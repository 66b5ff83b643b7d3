import { describe, expect, test } from "@jest/globals";
import { comparePlan, judge } from "../../../scripts/conformance/judge.mjs";
import { exceptions, leftOut, wires } from "../../../scripts/conformance/plan.mjs";

const success = { id: "a", status: "SUCCESS" };
const skipped = { id: "b", status: "SKIPPED" };
const exception = {
  wire: "tasks",
  scenario: "one",
  check: "b",
  status: "SKIPPED",
  reason: "it cannot be tested yet",
} as const;

describe("judging a scenario", () => {
  test("counts what is as expected", () => {
    expect(judge([success, success, skipped], { a: 2, b: 1 }, [exception])).toEqual({
      passed: 2,
      skipped: 1,
      gaps: 0,
      accepted: [exception],
      deviations: [],
    });
  });

  test.each([
    ["was not run", undefined, { a: 1 }],
    ["reported nothing", [], { a: 1 }],
    ["reported a check less often", [success], { a: 2 }],
    ["reported a check more often", [success, success], { a: 1 }],
    ["reported a check that is not expected", [success, { id: "new", status: "SUCCESS" }], { a: 1 }],
    ["skipped a check", [{ ...success, status: "SKIPPED" }], { a: 1 }],
    ["failed a check once of two times", [success, { ...success, status: "FAILURE" }], { a: 2 }],
    ["warned", [{ ...success, status: "WARNING" }], { a: 1 }],
    ["has no expectation", [success], undefined],
  ])("notices one that %s", (_, checks, expected) => {
    expect(judge(checks, expected, []).deviations).toHaveLength(1);
  });

  test("notices an exception that is stale, or about no check at all", () => {
    const passing = { id: "b", status: "SUCCESS" };
    expect(judge([success, passing], { a: 1, b: 1 }, [exception]).deviations).toEqual([
      "b: SUCCESS, expected SKIPPED: no reason given",
    ]);
    expect(judge([success], { a: 1 }, [exception]).deviations).toEqual(["b: excepted, but not an expected check"]);
  });
});

describe("comparing the plan with the suite", () => {
  const wire = { name: "2026-07-28", revision: "2026-07-28", flags: [], scenarios: ["run"] } as const;
  const out = { scenario: "out", wires: ["2026-07-28"], reason: "needs prompts" } as const;

  test("is content when each scenario is run or left out", () => {
    const known = new Map([
      ["run", ["2025-11-25", "2026-07-28"]],
      ["out", ["2026-07-28"]],
    ]);
    expect(comparePlan(known, [wire], [out])).toEqual([]);
  });

  test("notices scenarios that only one of the two knows", () => {
    const known = new Map([
      ["run", ["2026-07-28"]],
      ["new", ["2026-07-28"]],
      ["next", ["2027-07-28"]],
    ]);
    expect(comparePlan(known, [wire], [out])).toEqual([
      "new (2026-07-28): neither run nor left out",
      "out (2026-07-28): not in the suite",
      "next: for no revision that is run (2027-07-28)",
    ]);
  });

  test("notices a scenario that is both run and left out", () => {
    expect(comparePlan(new Map([["run", ["2026-07-28"]]]), [wire], [{ ...out, scenario: "run" }])).toEqual([
      "run (2026-07-28): planned twice",
    ]);
  });
});

test("every exception and every omission has a reason, and every exception a scenario", () => {
  for (const { reason } of [...exceptions, ...leftOut]) expect(reason).not.toBe("");
  for (const { wire, scenario } of exceptions) {
    expect(wires.find(({ name }) => name === wire)?.scenarios).toContain(scenario);
  }
});
