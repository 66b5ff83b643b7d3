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
  /**
   * Operations of each verb on each store in a round, one after the other, and four times as many side by side. A quarter of
   * that for what few ask for.
   */
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
        const count = countOf(target.verb, operations);
        await timeVerb(target.verb, count, 1, target.sequential);
        await timeVerb(target.verb, count * 4, atOnceOf(target.verb), target.concurrent);
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

/** What few ask for is asked more seldom: it takes longer, and nobody waits for it a thousand times a second. */
const countOf = ({ atOnce }: Verb, operations: number): number =>
  atOnce === undefined ? operations : Math.ceil(operations / 4);

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
