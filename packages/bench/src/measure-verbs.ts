import { dueVerbs } from "./due-verbs.ts";
import { type Figures, latencies, timeAll } from "./latencies.ts";
import { listingVerbs } from "./listing-verbs.ts";
import { readingVerbs } from "./reading-verbs.ts";
import { concurrency, type SeededStore, type Verb } from "./verb.ts";
import { writingVerbs } from "./writing-verbs.ts";

/** One verb on one store. */
export interface VerbFigures {
  readonly verb: string;
  /** One after the other. */
  readonly sequential: Figures;
  /** How many were carried out side by side in `concurrent`. */
  readonly atOnce: number;
  readonly concurrent: Figures;
}

export interface MeasureOptions {
  /** How often all stores are measured in turn. */
  readonly rounds: number;
  /** Operations of each verb on each store in a round, one after the other, and as many times four side by side. */
  readonly operations: number;
  /** Told before a verb is measured. */
  readonly onVerb?: (verb: string) => void;
}

const verbsOf = (seeded: SeededStore): readonly Verb[] => [
  ...readingVerbs(seeded),
  ...writingVerbs(seeded),
  ...listingVerbs(seeded),
  ...dueVerbs(seeded),
];

/**
 * Measures every verb on every store, the stores in turn, so that what else the machine does strikes all of them alike and
 * what is told of one can be held against the others. In the order of the stores, then of the verbs.
 */
export const measureVerbs = async (
  stores: readonly SeededStore[],
  { rounds, operations, onVerb }: MeasureOptions,
): Promise<readonly (readonly VerbFigures[])[]> => {
  const measured = stores.map((seeded) =>
    verbsOf(seeded).map((verb) => ({ verb, sequential: latencies(), concurrent: latencies() })),
  );
  for (const [index, { verb }] of (measured[0] ?? []).entries()) {
    onVerb?.(verb.name);
    for (let round = 0; round < rounds; round++) {
      for (const verbs of measured) {
        const target = verbs[index];
        if (target === undefined) continue;
        await timeVerb(target.verb, operations, 1, target.sequential);
        await timeVerb(target.verb, operations * 4, atOnceOf(target.verb), target.concurrent);
      }
    }
  }
  return measured.map((verbs) =>
    verbs.map(({ verb, sequential, concurrent }) => ({
      verb: verb.name,
      sequential: sequential.figures(),
      atOnce: atOnceOf(verb),
      concurrent: concurrent.figures(),
    })),
  );
};

const atOnceOf = ({ atOnce }: Verb): number => atOnce ?? concurrency;

const timeVerb = async (
  verb: Verb,
  count: number,
  atOnce: number,
  into: ReturnType<typeof latencies>,
): Promise<void> => {
  for (let left = count; left > 0; ) {
    const some = await verb.prepare(Math.min(left, verb.most ?? left));
    await timeAll(some, atOnce, into);
    await verb.undo?.();
    left -= some.length;
  }
};
