import type { ExecutionSnapshot } from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";

/** The states of one fake execution, the true one and those before it. */
export interface Timeline {
  readonly snapshot: ExecutionSnapshot;
  become(next: ExecutionSnapshot): void;
  /** Ends: what only fits a running execution, or another end, is dropped. */
  end(change: Partial<ExecutionSnapshot> & Pick<ExecutionSnapshot, "status">): void;
  /** What was true at a time; undefined before the beginning. */
  at(instant: number): ExecutionSnapshot | undefined;
}

export const createTimeline = (first: ExecutionSnapshot, clock: Clock, changed: () => void): Timeline => {
  const moments = [{ at: clock.now(), snapshot: first }];
  let snapshot = first;
  const become = (next: ExecutionSnapshot): void => {
    snapshot = next;
    moments.push({ at: clock.now(), snapshot });
    changed();
  };
  return {
    get snapshot() {
      return snapshot;
    },
    become,
    end: (change) => {
      const { output: _output, failure: _failure, questions: _questions, ...rest } = snapshot;
      become({ ...rest, endedAt: clock.now(), ...change });
    },
    at: (instant) => moments.findLast((moment) => moment.at <= instant)?.snapshot,
  };
};
