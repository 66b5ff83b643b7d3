import type { ChaosOutcome } from "../chaos-run.ts";
import { eventsOf } from "../checks/evidence.ts";

/** What a run came to, in lines. The first says all that matters. */
export const toSummary = (
  store: string,
  { faults, evidence, plan, tally, refusedBoots }: ChaosOutcome,
): readonly string[] => {
  const started = eventsOf(evidence, "started");
  const acknowledged = eventsOf(evidence, "acknowledged");
  const polls = eventsOf(evidence, "polled")
    .map(({ durationMs }) => durationMs)
    .sort((one, other) => one - other);
  const failed = eventsOf(evidence, "failed");
  const at = (share: number): string => `${Math.round(polls[Math.floor(polls.length * share)] ?? 0)} ms`;
  const runs = evidence.lines.filter(({ kind }) => kind === "begins").length;
  const ofNext = evidence.tasks.filter(({ isOfNext }) => isOfNext).length;
  const stalled = evidence.jobs.filter(({ stalls }) => stalls > 0).length;
  return [
    `chaos ${store}: ${faults.length === 0 ? "ok" : `${faults.length} FAULTS`}; ${plan.length} faults played, ${started.length} starts ` +
      `(${acknowledged.length} acknowledged), ${evidence.tasks.length} tasks, ${evidence.jobs.length} jobs, ${polls.length} polls ` +
      `(p50 ${at(0.5)}, p99 ${at(0.99)}), ${failed.length} attempts failed`,
    `  faults played: ${count(plan.map(({ kind }) => kind))}; boots without a store: ${refusedBoots}`,
    `  runs: ${runs} of ${evidence.jobs.length} jobs, ${stalled} of them stalled`,
    `  tasks ended: ${count(evidence.tasks.map(({ state }) => state))}${ofNext === 0 ? "" : `; created by the next version: ${ofNext}`}`,
    `  at the balancer: ${Object.entries(tally)
      .map(([outcome, times]) => `${outcome} ×${times}`)
      .join(", ")}`,
    `  clients: ${count(eventsOf(evidence, "saw").map(({ wire, status }) => `${status} on ${wire}`))}`,
    `  also: ${count(evidence.events.map(({ kind }) => kind).filter((kind) => kind !== "saw"))}`,
    ...group(failed.map(({ wire, verb, failure }) => `${wire} ${verb}: ${failure.kind}: ${failure.why}`)).map(
      ([what, times]) => `  failed ×${times}  ${what}`,
    ),
  ];
};

const group = (words: readonly string[]): readonly (readonly [string, number])[] => {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
};

const count = (words: readonly string[]): string =>
  group(words)
    .map(([word, times]) => `${word} ×${times}`)
    .join(", ");
