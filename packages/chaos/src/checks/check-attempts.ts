import { type Evidence, eventsOf } from "./evidence.ts";

/** Refusals that are right: of a wire on which what is over cannot be cancelled. */
const rightRefusals: readonly RegExp[] = [/^-32602: Cannot cancel task/];

/** Attempts may fail for want of something that is away; nobody is told that a request was wrong that was not. */
export const checkAttempts = (evidence: Evidence): readonly string[] =>
  eventsOf(evidence, "failed")
    .filter(({ failure }) => failure.kind === "wrong" || failure.kind === "refused")
    .filter(({ failure }) => !rightRefusals.some((right) => right.test(failure.why)))
    .map(({ verb, wire, failure }) => `${verb} on ${wire} was answered ${failure.why}`);
