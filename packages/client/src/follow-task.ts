import { TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { type OnQuestion, questionDispatcher } from "./question-dispatcher.ts";
import { isOver, type Task } from "./task.ts";
import type { ToolResult } from "./tool-result.ts";
import { watchTask } from "./watch-task.ts";
import type { Wire } from "./wire.ts";

/**
 * What becomes of the questions of a task: `ask` puts them to `onQuestion`; `hold` takes them and tells them with the
 * task, for `answer`; `leave` takes none, so that where the server asks by requests (2025-11-25, SEP-1686) the SDK
 * client's own handler gets them, and elsewhere they stay open.
 */
export type Questions = "ask" | "hold" | "leave";

export interface FollowParts {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly first: Task;
  /** The answer of the call itself, where one may come. */
  readonly answer?: Promise<ToolResult> | undefined;
  readonly questions: Questions;
  readonly onQuestion?: OnQuestion | undefined;
  see(task: Task): Promise<void>;
  /** Questions of the task have somebody who answers them from now on. */
  onQuestionsWithdrawn(): void;
  readonly signal: AbortSignal;
}

/** Looks at a task to its end, and puts what it asks. */
export const followTask = async (parts: FollowParts): Promise<ToolResult> => {
  const { wire, clock, first, answer, questions, onQuestion, see } = parts;
  const over = new AbortController();
  const signal = AbortSignal.any([parts.signal, over.signal]);
  const watch = watchTask(wire, first.taskId, { clock, asks: questions !== "leave", first });
  parts.onQuestionsWithdrawn();
  const dispatcher =
    questions !== "ask" || onQuestion === undefined
      ? undefined
      : questionDispatcher(onQuestion, (id, answers) => wire.answer(id, answers), watch.wake);
  let latest = first;
  let isAnswered = false;
  const poll = async (): Promise<ToolResult> => {
    for (let task = first; ; task = await watch.next(signal)) {
      // What was seen before the answer came is older than it.
      if (isAnswered) return never;
      latest = task;
      await see(task);
      dispatcher?.see(task);
      if (isOver(task)) return wire.outcome(task, signal);
    }
  };
  // Where the answer of the call does not come, the task tells.
  const direct = answer?.then(
    async (result) => {
      isAnswered = true;
      await see({ ...latest, status: "completed", questions: [] });
      return result;
    },
    () => never,
  );
  try {
    return await Promise.race([
      poll(),
      ...(direct === undefined ? [] : [direct]),
      ...(dispatcher === undefined ? [] : [dispatcher.failed]),
    ]);
  } finally {
    over.abort(new TaskClientError("detached", "the call is over"));
    watch.close();
    dispatcher?.close();
  }
};

const never = new Promise<never>(() => {});
