import { describe, expect, it } from "@jest/globals";
import type { BalancerOutcome } from "@taskbridge/services/balancer";
import { findDrainFaults } from "../../src/rolling/find-drain-faults.ts";

const target = "127.0.0.1:3001";
const drain = { target, reportedAt: 1_000, goneAt: 4_000, exitCode: 0 };
const asked = (outcome: BalancerOutcome["outcome"], startedAt: number, method = "POST"): BalancerOutcome => ({
  request: { method, url: "/mcp", headers: { "mcp-method": "tasks/get" } },
  target,
  outcome,
  startedAt,
  endedAt: startedAt + 10,
});

describe("a replica that was told to stop", () => {
  it("answers what it is asked until it is gone", () => {
    expect(findDrainFaults([asked(200, 1_500), asked(404, 2_000), asked("left", 3_000)], [drain])).toEqual([]);
  });

  it.each([["reset" as const], ["cut" as const], ["refused" as const], [503 as const]])(
    "and %s is a fault",
    (outcome) => {
      expect(findDrainFaults([asked(outcome, 1_500)], [drain])).toEqual([
        `POST tasks/get at ${target}: ${outcome}, 500 ms after it was told to stop`,
      ]);
    },
  );

  it("may end streams of news, and is not asked about what comes before and after", () => {
    const outcomes = [asked("cut", 3_900, "GET"), asked("refused", 4_500), asked("reset", 900)];
    expect(findDrainFaults(outcomes, [drain])).toEqual([]);
  });

  it("ends with 0", () => {
    expect(findDrainFaults([], [{ ...drain, exitCode: null }])).toEqual([`${target} has ended with null`]);
  });
});
