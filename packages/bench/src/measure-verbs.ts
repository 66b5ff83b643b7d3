import { dueVerbs } from "./due-verbs.ts";
import { type Figures, type Latencies, latencies, timeAll } from "./latencies.ts";
import { listingVerbs } from "./listing-verbs.ts";
import { readingVerbs } from "./reading-verbs.ts";
import { concurrency, type Operation, type SeededStore, type Verb } from "./verb.ts";
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
  /** How often all stores are measured in turn, at most; five times as often for what few ask for. */
  readonly rounds: number;
  /**
   * Operations of each verb on each store in a round, one after the other, and twice as many side by side. A tenth of
   * that for what few ask for.
   */
  readonly operations: number;
  /** After so long (milliseconds) a verb gets no further round, once it has had `minRounds`. */
  readonly verbMs: number;
  /** Told before a verb is measured. */
  readonly onVerb?: (verb: string) => void;
}

/** With fewer, one hiccup of the machine is all that is seen. */
const minRounds = 2;

const verbsOf = (seeded: SeededStore): readonly Verb[] => [
  ...readingVerbs(seeded),
  ...writingVerbs(seeded),
  ...listingVerbs(seeded),
  ...dueVerbs(seeded),
];

interface Measured {
  readonly verb: Verb;
  readonly sequential: Latencies;
  readonly concurrent: Latencies;
}

/**
 * Measures every verb on every store, the stores in turn, so that what else the machine does strikes all of them alike and
 * what is told of one can be held against the others. In the order of the stores, then of the verbs.
 */
export const measureVerbs = async (
  stores: readonly SeededStore[],
  { rounds, operations, verbMs, onVerb }: MeasureOptions,
): Promise<readonly (readonly VerbFigures[])[]> => {
  const measured = stores.map((seeded) =>
    verbsOf(seeded).map((verb): Measured => ({ verb, sequential: latencies(), concurrent: latencies() })),
  );
  for (const [index, { verb }] of (measured[0] ?? []).entries()) {
    onVerb?.(verb.name);
    const targets = measured.flatMap((verbs) => verbs[index] ?? []);
    const endsAt = performance.now() + verbMs;
    const limit = verb.atOnce === undefined ? rounds : rounds * 5;
    for (let round = 0; round < limit && (round < minRounds || performance.now() < endsAt); round++) {
      await timeInTurn(targets, countOf(verb, operations));
      for (const { verb: own, concurrent } of targets)
        await timeTogether(own, countOf(own, operations) * 2, atOnceOf(own), concurrent);
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
  atOnce === undefined ? operations : Math.ceil(operations / 10);

const atOnceOf = ({ atOnce }: Verb): number => atOnce ?? concurrency;

/** One operation after the other, on one store and then on the next, each as often the first as the others. */
const timeInTurn = async (targets: readonly Measured[], count: number): Promise<void> => {
  const [{ verb }] = targets as [Measured];
  for (let left = count; left > 0; left -= Math.min(left, verb.max ?? left)) {
    const prepared: { readonly operations: readonly Operation[]; readonly into: Latencies }[] = [];
    for (const target of targets)
      prepared.push({
        operations: await target.verb.prepare(Math.min(left, verb.max ?? left)),
        into: target.sequential,
      });
    const limit = Math.max(...prepared.map(({ operations }) => operations.length));
    for (let index = 0; index < limit; index++) {
      for (const { operations, into } of index % 2 === 0 ? prepared : prepared.toReversed())
        await timeAll(operations.slice(index, index + 1), 1, into);
    }
    for (const target of targets) await target.verb.undo?.();
  }
};

const timeTogether = async (verb: Verb, count: number, atOnce: number, into: Latencies): Promise<void> => {
  for (let left = count; left > 0; ) {
    const some = await verb.prepare(Math.min(left, verb.max ?? left));
    await timeAll(some, atOnce, into);
    await verb.undo?.();
    left -= some.length;
  }
};
