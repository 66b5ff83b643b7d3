import { describe, expect, it } from "@jest/globals";
import type { TaskRecord } from "../../../src/contract/task-record.ts";
import { pollIntervalMs } from "../../../src/engine/inspect/poll-interval.ts";

const taskOf = (change: { pollIntervalMs?: number; expectedEndAt?: number }): TaskRecord =>
  ({
    createdAt: 0,
    policy: { pollIntervalMs: change.pollIntervalMs ?? 1_000 },
    ...(change.expectedEndAt === undefined
      ? {}
      : { execution: { status: "running", expectedEndAt: change.expectedEndAt } }),
  }) as TaskRecord;

describe("pollIntervalMs", () => {
  it.each([
    ["the tool's floor for a young task", taskOf({}), 0, 10_000, 0, 1_000],
    ["the backend's floor when that is larger", taskOf({}), 5_000, 10_000, 0, 5_000],
    ["a fiftieth of the age of an older one", taskOf({}), 0, 500_000, 0, 10_000],
    ["half a minute at most", taskOf({}), 0, 86_400_000, 0, 30_000],
    [
      "the tool's floor when that is longer than half a minute",
      taskOf({ pollIntervalMs: 60_000 }),
      0,
      86_400_000,
      0,
      60_000,
    ],
    ["what remains until an expected end", taskOf({ expectedEndAt: 503_000 }), 0, 500_000, 0, 3_000],
    ["the floor around and after an expected end", taskOf({ expectedEndAt: 499_000 }), 0, 500_000, 0, 1_000],
    [
      "a fiftieth of the time since an end that is long overdue",
      taskOf({ expectedEndAt: 100_000 }),
      0,
      500_000,
      0,
      8_000,
    ],
    ["the backend's pause when that is the longest", taskOf({}), 0, 10_000, 45_000, 45_000],
  ])("is %s (case 14)", (_what, task, floor, now, backoff, expected) => {
    expect(pollIntervalMs(task, floor, now, backoff)).toBe(expected);
  });

  it("aims at an estimated end only where the backend expects none", () => {
    expect(pollIntervalMs(taskOf({}), 0, 500_000, 0, 503_000)).toBe(3_000);
    expect(pollIntervalMs(taskOf({ expectedEndAt: 505_000 }), 0, 500_000, 0, 503_000)).toBe(5_000);
  });
});
