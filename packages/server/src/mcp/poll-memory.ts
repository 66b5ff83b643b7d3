import { type Clock, openQuestions, type TaskView } from "@taskbridge/core";
import type { Owner } from "../caller.ts";

/** What callers without tasks were told about theirs, so that a model is not told the same for ever. Advice only. */
export interface PollMemory {
  /** Keys of the questions that the caller knows of. */
  known(taskId: string, owner: Owner): ReadonlySet<string>;
  /** How many times in a row the caller has looked too early, up to its last look. */
  early(taskId: string, owner: Owner): number;
  /** The caller is being told how the task stands: it has looked. */
  note(view: TaskView, owner: Owner): void;
}

interface Poll {
  readonly at: number;
  readonly early: number;
  readonly questions: ReadonlySet<string>;
}

/** The most tasks that are remembered; of the others it is as if nobody had looked. */
const maxRemembered = 1_000;
/** Who comes back sooner than this has not waited as advised (milliseconds). */
const tooEarlyMs = 8_000;

export const createPollMemory = (clock: Clock): PollMemory => {
  const polls = new Map<string, Poll>();
  const toKey = (taskId: string, owner: Owner): string => `${taskId} ${owner ?? ""}`;
  return {
    known: (taskId, owner) => polls.get(toKey(taskId, owner))?.questions ?? new Set(),
    early: (taskId, owner) => polls.get(toKey(taskId, owner))?.early ?? 0,
    note: (view, owner) => {
      const key = toKey(view.record.taskId, owner);
      const before = polls.get(key);
      const now = clock.now();
      const isEarly = before !== undefined && now - before.at < tooEarlyMs;
      const early = isEarly ? before.early + 1 : 0;
      const questions = new Set(openQuestions(view.record.questions).map((question) => question.key));
      polls.delete(key);
      polls.set(key, { at: now, early, questions });
      const [oldest] = polls.keys();
      if (polls.size > maxRemembered && oldest !== undefined) polls.delete(oldest);
    },
  };
};
