import { type Evidence, eventsOf } from "./evidence.ts";

/** How tools end that nobody cancels. */
const ends: Readonly<Record<string, string>> = {
  quick: "succeeded",
  slow: "succeeded",
  ask: "succeeded",
  fail: "failed",
};

/** Every task is over, those that were acknowledged are there, and each has ended as its tool does, or as somebody wanted. */
export const checkSettled = (evidence: Evidence): readonly string[] => {
  const toolOf = new Map(eventsOf(evidence, "started").map(({ call, tool }) => [call, tool]));
  const cancelled = new Set(eventsOf(evidence, "cancelling").map(({ call }) => call));
  const acknowledged = new Map(eventsOf(evidence, "acknowledged").map(({ call, taskId }) => [call, taskId]));
  const deleting = new Set(eventsOf(evidence, "deleting").map(({ call }) => call));
  const there = new Map(evidence.tasks.map(({ call, taskId }) => [call, taskId]));
  const lost = [...acknowledged].flatMap(([call, taskId]) => {
    const kept = there.get(call);
    if (kept === undefined)
      return deleting.has(call) ? [] : [`call ${call} was told ${taskId ?? "a result"}, and has no task`];
    return taskId === undefined || taskId === kept ? [] : [`call ${call} was told ${taskId}, and its task is ${kept}`];
  });
  const unended = evidence.tasks.flatMap(({ call, taskId, state, message, isOver, isDeleted }) => {
    if (!isOver) return [`task ${taskId} of call ${call} is not over: ${state}: ${message}`];
    const wanted = ends[toolOf.get(call) ?? ""];
    // One whose call was broken off before its answer is cancelled, as its wire demands.
    const mayBeCancelled = cancelled.has(call) || !acknowledged.has(call);
    if (isDeleted || state === wanted || (state === "cancelled" && mayBeCancelled)) return [];
    return [`task ${taskId} of call ${call} is ${state}, not ${wanted}: ${message}`];
  });
  return [...lost, ...unended];
};
