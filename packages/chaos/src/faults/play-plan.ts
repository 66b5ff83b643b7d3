import { setTimeout as pause } from "node:timers/promises";
import type { Fleet } from "../fleet/fleet.ts";
import { applyFault } from "./apply-fault.ts";
import type { Fault } from "./fault.ts";

/** Whatever must not be done to the same thing at the same time. */
const subjectOf = ({ kind, target, link }: Fault): string => {
  if (link !== undefined) return `link ${target} ${link}`;
  return kind === "restart store" || kind === "restart queue" ? kind : `${kind.split(" ")[1]} ${target}`;
};

/**
 * Plays each fault at its moment; one whose subject is still in another follows that one. Resolves once all are over, and
 * rejects if something does not come up again.
 */
export const playPlan = async (
  plan: readonly Fault[],
  fleet: Fleet,
  random: () => number,
  report: (fault: Fault) => void,
): Promise<void> => {
  const startedAt = performance.now();
  const busy = new Map<string, Promise<void>>();
  await Promise.all(
    plan.map(async (fault) => {
      await pause(Math.max(0, fault.atMs - (performance.now() - startedAt)));
      const subject = subjectOf(fault);
      const before = busy.get(subject) ?? Promise.resolve();
      const playing = before.then(() => {
        report(fault);
        return applyFault(fault, fleet, random);
      });
      busy.set(subject, playing);
      await playing;
    }),
  );
};
