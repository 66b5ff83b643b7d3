import { forgetOldest } from "./inspection-memories.ts";

/** An execution whose details may be read. */
export interface Candidate {
  /** Its workflow and the steps where it is; undefined where nobody has looked. */
  readonly location: string | undefined;
  /** It was never read, or was elsewhere then. */
  readonly hasMoved: boolean;
  /** Callbacks were open when it was read last. */
  readonly isAsked: boolean;
  /** When it was read last; undefined for never (milliseconds). */
  readonly readAt: number | undefined;
}

export interface ReadingOrder {
  /** What a read has shown of one that was there. */
  learn(location: string, isAsked: boolean): void;
  /** Whether a callback was ever open while an execution was there. */
  mayAsk(location: string): boolean;
  /** Whether it is to be read before what may wait until there is plenty. */
  isUrgent(candidate: Candidate): boolean;
  /** What is urgent first: in turn by place, those first where callbacks were open most often. Then what was read longest ago. */
  sort<Item extends Candidate>(items: readonly Item[]): readonly Item[];
}

/** What has not moved does not wait for longer than this behind what has (milliseconds). */
const maxWaitMs = 180_000;

/**
 * Whom to read first of more than can be read. Of 2,000 executions that work and 40 that wait, the first reads tell where it is that
 * they wait. `now`: milliseconds.
 */
export const readingOrder = (now = (): number => performance.now()): ReadingOrder => {
  const seen = new Map<string, { readonly asked: number; readonly quiet: number }>();
  const mayAsk: ReadingOrder["mayAsk"] = (location) => (seen.get(location)?.asked ?? 0) > 0;
  const isUrgent: ReadingOrder["isUrgent"] = ({ location, hasMoved, isAsked, readAt }) => {
    if (readAt !== undefined && now() - readAt > maxWaitMs) return true;
    // A callback may be listed a little later than its step.
    return location !== undefined && (hasMoved || (!isAsked && mayAsk(location)));
  };
  const byAge = <Item extends Candidate>(items: readonly Item[]): readonly Item[] =>
    items.toSorted((one, other) => (one.readAt ?? 0) - (other.readAt ?? 0));
  return {
    learn: (location, isAsked) => {
      const { asked, quiet } = seen.get(location) ?? { asked: 0, quiet: 0 };
      seen.delete(location);
      seen.set(location, isAsked ? { asked: asked + 1, quiet } : { asked, quiet: quiet + 1 });
      forgetOldest(seen);
    },
    mayAsk,
    isUrgent,
    sort: (items) => {
      const turns = new Map<string, number>();
      const rankOf = ({ location = "" }: Candidate): number => {
        const turn = turns.get(location) ?? 0;
        turns.set(location, turn + 1);
        const { asked, quiet } = seen.get(location) ?? { asked: 0, quiet: 0 };
        return (quiet + turn) / (asked + 1);
      };
      const urgent = byAge(items.filter(isUrgent))
        .map((item) => ({ item, rank: rankOf(item) }))
        .sort((one, other) => one.rank - other.rank)
        .map(({ item }) => item);
      return [...urgent, ...byAge(items.filter((item) => !isUrgent(item)))];
    },
  };
};
