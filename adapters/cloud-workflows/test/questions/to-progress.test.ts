import { expect, test } from "@jest/globals";
import type { StepEntry } from "../../src/google/client.ts";
import { toProgress } from "../../src/questions/to-progress.ts";

const entry = (step: string, more: Partial<StepEntry> = {}): StepEntry => ({
  id: step,
  routine: "main",
  step,
  type: "STEP_STD_LIB_CALL",
  variables: {},
  ...more,
});

const loop = (step: string, iteration: number, iterations: number): StepEntry =>
  entry(step, { type: "STEP_FOR", iteration, iterations });

const current = [{ routine: "main", step: "both" }];

test.each([
  ["nothing that is known", undefined, [], undefined],
  ["the execution's own step, without a history", undefined, current, { message: "both" }],
  ["the calls of the history", [entry("left"), entry("right")], current, { message: "left, right" }],
  [
    "the execution's own step, where the history has no call",
    [entry("pick", { type: "STEP_ASSIGN" })],
    current,
    { message: "both" },
  ],
  ["iterations that are over", [loop("each", 3, 10), entry("upload")], [], { message: "upload", done: 2, total: 10 }],
  ["the innermost loop", [loop("outer", 1, 2), loop("inner", 5, 5)], [], { done: 4, total: 5 }],
  ["no more than all", [loop("each", 12, 10)], [], { done: 10, total: 10 }],
] as const)("tells %s", (_name, entries, steps, progress) => {
  expect(toProgress(entries, steps)).toEqual(progress);
});
