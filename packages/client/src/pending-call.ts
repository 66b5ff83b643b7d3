import { aboutTask, isTaskClientError, TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { followTask, type Questions } from "./follow-task.ts";
import { orAborted } from "./or-aborted.ts";
import type { OnQuestion } from "./question-dispatcher.ts";
import { isOver, type Task, type WireName } from "./task.ts";
import type { ToolResult } from "./tool-result.ts";
import { isSame } from "./watch-task.ts";
import type { OpenCall, Wire } from "./wire.ts";

export interface ResumeOptions {
  /** Told of every change, the first look and the end included. What it throws ends the wait, and `result()` rejects with it. */
  readonly onStatus?: (task: Task) => void | Promise<void>;
  /**
   * Answers a question, which is put once, however often it is seen; again only when the server refuses the answer. What
   * it throws ends the wait, and `result()` rejects with it. On 2025-11-25 and SEP-1686 a server asks only clients that
   * were constructed with the capability `elicitation`.
   */
  readonly onQuestion?: OnQuestion;
  /**
   * Default `ask` with `onQuestion`, else `leave`. With `hold` and `leave`, `onQuestion` gets only what a tool asks before
   * there is a task.
   */
  readonly questions?: Questions;
  /** Ends the wait after so long (milliseconds) with `timeout`; the task goes on. Default: never. */
  readonly timeoutMs?: number;
  /** Ends the wait with `detached`; the task goes on, unless `cancelOnAbort`. */
  readonly signal?: AbortSignal;
  /** The signal cancels the task instead. Default false. */
  readonly cancelOnAbort?: boolean;
}

/** A call that has been sent, whatever became of it. */
export interface PendingCall {
  /** Known at once where this side mints it, else once `created` has resolved. `resume` takes it. */
  readonly taskId: string | undefined;
  /**
   * Resolves with the task's ID as soon as the server has a task; with undefined when the call was answered without one.
   * Rejects with the same error as `result()` when the call fails or is cancelled before. The end of the wait does not end
   * it: after `timeoutMs` or `detach` it still resolves once the server answers, so that the ID is not lost.
   */
  readonly created: Promise<string | undefined>;
  readonly wire: WireName;
  /** The task as it was last seen. */
  readonly task: Task | undefined;
  /**
   * What the call came to: always the same promise. A tool that reports a failure (`isError`) is a result. Rejects with a
   * `TaskClientError`, or with what a callback threw.
   */
  result(): Promise<ToolResult>;
  /**
   * Asks the server to stop the task, or the call where there is no task yet. Resolves when the server has been told;
   * `result()` tells whether it was in time: it rejects with `cancelled`, or gives the result of a task that was faster. At
   * a question of 2026-07-28 before there is a task, nothing can be told: it rejects with `outcome_unknown`.
   */
  cancel(): Promise<void>;
  /** Ends the wait: `result()` rejects with `detached`. The task goes on. */
  detach(): void;
}

export interface PendingParts {
  readonly wire: Wire;
  readonly clock: Clock;
  readonly taskId?: string;
  readonly options: ResumeOptions;
  /** Questions of the task have somebody who answers them, or there is nothing to ask any more. */
  onQuestionsWithdrawn?(): void;
}

/** What the sender of a call is given. */
export interface Opening {
  /** Fires when the wait is over. */
  readonly ended: AbortSignal;
  /** Fires when nobody is to be asked any more before there is a task: the call is cancelled. */
  readonly cancelled: AbortSignal;
  /** Ends the wait with an error. */
  fail(error: unknown): void;
}

/** Follows a call to its end. `open` sends it. */
export const pendingCall = (parts: PendingParts, open: (opening: Opening) => OpenCall): PendingCall => {
  const { wire, clock, options } = parts;
  const ended = new AbortController();
  const cancelled = new AbortController();
  let taskId = parts.taskId;
  let latest: Task | undefined;
  const end = (code: "timeout" | "detached", message: string): void =>
    ended.abort(new TaskClientError(code, message, { taskId }));
  const explain = (error: unknown): unknown => {
    // On SEP-1686 a task that is cancelled by its ID is deleted. Elsewhere there never was one.
    const isGone = wire.name === "sep-1686" && cancelled.signal.aborted && isTaskClientError(error, "not_found");
    return aboutTask(
      isGone ? new TaskClientError("cancelled", "the task was cancelled", { cause: error }) : error,
      taskId,
    );
  };
  const sent = open({ ended: ended.signal, cancelled: cancelled.signal, fail: (error) => ended.abort(error) });
  const created = sent.begun.then(
    (begun) => {
      if (begun.kind === "task") taskId = begun.task.taskId;
      return begun.kind === "task" ? begun.task.taskId : undefined;
    },
    (error: unknown) => {
      throw explain(error);
    },
  );
  created.catch(() => {});
  const see = async (task: Task): Promise<void> => {
    const hasChanged = latest === undefined || !isSame(task, latest);
    latest = task;
    if (hasChanged) await options.onStatus?.(task);
  };
  const onQuestionsWithdrawn = parts.onQuestionsWithdrawn ?? ((): void => {});

  const run = async (): Promise<ToolResult> => {
    try {
      const begun = await orAborted(sent.begun, ended.signal);
      if (begun.kind === "result") return begun.result;
      taskId = begun.task.taskId;
      const { onQuestion, questions = onQuestion === undefined ? "leave" : "ask" } = options;
      const { task: first, answer } = begun;
      const following = { wire, clock, first, answer, questions, onQuestion, see, onQuestionsWithdrawn };
      return await orAborted(followTask({ ...following, signal: ended.signal }), ended.signal);
    } catch (error) {
      throw explain(error);
    } finally {
      onQuestionsWithdrawn();
    }
  };
  const result = run();
  result.catch(() => {});
  const cancel = async (): Promise<void> => {
    cancelled.abort(new TaskClientError("cancelled", "the call was cancelled", { taskId }));
    try {
      await sent.cancel();
    } catch (error) {
      // 2025-11-25 refuses to cancel what is over: `result()` tells what it came to.
      if (taskId === undefined || !isTaskClientError(error, "refused")) throw explain(error);
      if (!isOver(await wire.read(taskId))) throw explain(error);
    }
  };
  endWith(result, { options, clock, end, cancel });

  return {
    get taskId() {
      return taskId;
    },
    get task() {
      return latest;
    },
    created,
    wire: wire.name,
    result: () => result,
    cancel,
    detach: () => end("detached", "not waited for any more"),
  };
};

interface Ending {
  readonly options: ResumeOptions;
  readonly clock: Clock;
  end(code: "timeout" | "detached", message: string): void;
  cancel(): Promise<void>;
}

/** Ends the wait by time or signal, whichever is first. */
const endWith = (result: Promise<unknown>, { options, clock, end, cancel }: Ending): void => {
  const { timeoutMs, signal, cancelOnAbort = false } = options;
  const over = new AbortController();
  const onAbort = (): void => {
    if (!cancelOnAbort) end("detached", "the signal of the call has fired");
    // Where the server cannot be told, the wait is over all the same.
    else cancel().catch((error: unknown) => end("detached", `the task could not be cancelled: ${String(error)}`));
  };
  // Of its own, because many calls may share the signal, and Node warns of more than ten listeners on one.
  const aborting = signal === undefined ? undefined : AbortSignal.any([signal]);
  if (aborting?.aborted) onAbort();
  aborting?.addEventListener("abort", onAbort, { once: true });
  if (timeoutMs !== undefined) {
    clock.sleep(timeoutMs, over.signal).then(
      () => end("timeout", `no result within ${timeoutMs} ms; the task goes on`),
      () => {},
    );
  }
  const done = (): void => {
    aborting?.removeEventListener("abort", onAbort);
    over.abort();
  };
  result.then(done, done);
};
