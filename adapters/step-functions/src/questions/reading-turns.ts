import type { Quotas } from "../aws/quotas.ts";
import type { ExecutionLocation } from "../mapping/execution-arn.ts";

/**
 * While more want to be read than may be, one is not read again before this part of the time has passed that all together take: a look
 * at some would use up what others, which are not in that look, have waited for longer.
 */
const minTurn = 0.75;
/** Executions that are remembered for when they were read. */
const maxRemembered = 20_000;

/** Whose history is to be read next. */
export interface ReadingTurns {
  /** Those whose turn it is, first what there is news of, then what was read longest ago. `few`: so few have a turn always. */
  next(locations: readonly ExecutionLocation[], few: number): ExecutionLocation[];
  isHurried(arn: string): boolean;
  /** News of this one has come: it goes first. */
  hurry(arn: string): void;
  wasRead(arn: string): void;
  forget(arn: string): void;
}

export const readingTurns = (quotas: (arn: string) => Quotas): ReadingTurns => {
  const readAt = new Map<string, number>();
  const hurried = new Set<string>();
  const rankOf = (arn: string): number => (hurried.has(arn) ? -1 : (readAt.get(arn) ?? 0));
  const isDue = ({ arn }: ExecutionLocation): boolean => {
    const { history, historyPerSecond, historyReserve } = quotas(arn);
    const turnMs = (readAt.size / historyPerSecond) * 1_000 * minTurn;
    const isNew = hurried.has(arn) || !readAt.has(arn);
    return isNew || history.left() > 1.2 * historyReserve || performance.now() - rankOf(arn) >= turnMs;
  };
  return {
    next: (locations, few) =>
      (locations.length <= few ? [...locations] : locations.filter(isDue)).sort(
        (one, other) => rankOf(one.arn) - rankOf(other.arn),
      ),
    isHurried: (arn) => hurried.has(arn),
    hurry: (arn) => {
      hurried.add(arn);
      if (hurried.size > maxRemembered) hurried.delete(hurried.values().next().value ?? "");
    },
    wasRead: (arn) => {
      hurried.delete(arn);
      readAt.delete(arn);
      readAt.set(arn, performance.now());
      if (readAt.size > maxRemembered) readAt.delete(readAt.keys().next().value ?? "");
    },
    forget: (arn) => {
      readAt.delete(arn);
      hurried.delete(arn);
    },
  };
};
