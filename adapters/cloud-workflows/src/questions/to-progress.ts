import type { ExecutionSnapshot } from "@taskbridge/core/adapter";
import type { Step, StepEntry } from "../google/client.ts";
import { toStepsText } from "../mapping/to-snapshot.ts";
import { callsIn } from "./match-steps.ts";

/** The steps at hand, and counts of the innermost loop that tells them. `current`: the execution's own, where no history is to be had. */
export const toProgress = (
  entries: readonly StepEntry[] | undefined,
  current: readonly Step[],
): ExecutionSnapshot["progress"] => {
  const calls = entries === undefined ? [] : callsIn(entries);
  const message = toStepsText(calls.length > 0 ? calls : current);
  const loop = entries?.findLast(({ iteration, iterations }) => iteration !== undefined && iterations !== undefined);
  const { iteration = 1, iterations } = loop ?? {};
  const counts = iterations === undefined ? {} : { done: Math.min(iteration - 1, iterations), total: iterations };
  const progress = { ...counts, ...(message === undefined ? {} : { message }) };
  return Object.keys(progress).length === 0 ? undefined : progress;
};
