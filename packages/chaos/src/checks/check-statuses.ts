import type { SeenStatus } from "../clients/ledger.ts";
import { type Evidence, eventsOf, groupBy } from "./evidence.ts";

/** Something that every look that is sent after `at` has to agree with. */
interface Settled {
  readonly status: SeenStatus;
  readonly at: number;
}

/**
 * No task is unknown to its owner once it was acknowledged, unless the owner deletes it. None is in another state after any
 * client has seen it ended, or was told that it is cancelled.
 */
export const checkStatuses = (evidence: Evidence): readonly string[] => {
  const polls = groupBy(eventsOf(evidence, "saw"), ({ call }) => call);
  const acknowledged = groupBy(eventsOf(evidence, "acknowledged"), ({ call }) => call);
  const deleting = groupBy(eventsOf(evidence, "deleting"), ({ call }) => call);
  const finalCancels = groupBy(
    eventsOf(evidence, "cancelled").filter(({ isFinal }) => isFinal),
    ({ call }) => call,
  );
  return [...polls].flatMap(([call, seen]) => {
    const acknowledgedAt = Math.min(...(acknowledged.get(call) ?? []).map(({ at }) => at));
    const deletedAt = Math.min(...(deleting.get(call) ?? []).map(({ sentAt }) => sentAt));
    const ends: Settled[] = [
      ...(finalCancels.get(call) ?? []).map(({ at }) => ({ status: "cancelled" as const, at })),
      ...seen.filter(({ status }) => status === "finished" || status === "cancelled"),
    ];
    return seen.flatMap(({ status, wire, sentAt, at }) => {
      const missing = status === "not found";
      if (missing && at >= deletedAt) return [];
      if (missing)
        return sentAt > acknowledgedAt ? [`the task of call ${call} was acknowledged and not found on ${wire}`] : [];
      const before = ends.find((end) => end.at < sentAt && end.status !== status);
      return before === undefined
        ? []
        : [`the task of call ${call} was ${before.status}, and later ${status} on ${wire}`];
    });
  });
};
