import { aboutTask, isTaskClientError, TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { type OnQuestion, questionDesk } from "./question-desk.ts";
import { isOver, type TaskStatus, type ToolResult, type WireName } from "./task-status.ts";
import { isSame, watchTask } from "./watch-task.ts";
import type { OpenCall, Wire } from "./wire.ts";

export interface ResumeOptions {
  /** Told of every change, the first look and the end included. What it throws ends the wait, and `result()` rejects with it. */
  readonly onStatus?: (status: TaskStatus) => void | Promise<void>;
  /**
   * Answers what the task asks. A question is put once, however often it is seen; again only when the server refuses the
   * answer. Absent: questions are told with the status, and stay open. On 2025-11-25 and SEP-1686 a server asks only
   * clients that were constructed with the capability `elicitation`.
   */
  readonly onQuestion?: OnQuestion;
  /**
   * Questions are told with the status and answered by `answer`, those too that a server asks by requests; `onQuestion` is
   * only asked what comes before there is a task. Default false.
   */
  readonly holdQuestions?: boolean;
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
   * Resolves with the task's ID as soon as the server has a task, also after `detach`; with undefined when the call was
   * answered without one. Rejects as `result()` does when the call fails before.
   */
  readonly created: Promise<string | undefined>;
  readonly wire: WireName;
  /** How the task stood when it was last seen. */
  status(): TaskStatus | undefined;
  /**
   * What the call came to: always the same promise. A tool that reports a failure (`isError`) is a result. Rejects with a
   * `TaskClientError`.
   */
  result(): Promise<ToolResult>;
  /**
   * Asks the server to stop the task. Resolves when the server has been told; `result()` tells whether it was in time:
   * it rejects with `cancelled`, or gives the result of a task that was faster.
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
  /** Told when the questions of the task have somebody who answers them. */
  onFollowed?(): void;
}

/** Follows a call to its end. `open` sends it; it is given what ends the wait. */
export const pendingCall = (parts: PendingParts, open: (ended: AbortSignal) => OpenCall): PendingCall => {
  const { wire, clock, options } = parts;
  const ended = new AbortController();
  let taskId = parts.taskId;
  let latest: TaskStatus | undefined;
  let isCancelling = false;
  const end = (code: "timeout" | "detached", message: string): void =>
    ended.abort(new TaskClientError(code, message, { taskId }));
  const sent = open(ended.signal);
  const created = sent.begun.then((begun) => {
    if (begun.kind === "task") taskId = begun.status.taskId;
    return begun.kind === "task" ? begun.status.taskId : undefined;
  });
  created.catch(() => {});
  const see = async (status: TaskStatus): Promise<void> => {
    const isNews = latest === undefined || !isSame(status, latest);
    latest = status;
    if (isNews) await options.onStatus?.(status);
  };

  const follow = async (first: TaskStatus, answer: Promise<ToolResult> | undefined): Promise<ToolResult> => {
    const { onQuestion, holdQuestions = false } = options;
    const asks = onQuestion !== undefined || holdQuestions;
    const over = new AbortController();
    const signal = AbortSignal.any([ended.signal, over.signal]);
    const watch = watchTask(wire, first.taskId, { clock, asks, first });
    parts.onFollowed?.();
    const desk =
      onQuestion === undefined || holdQuestions
        ? undefined
        : questionDesk(onQuestion, (id, answers) => wire.answer(id, answers), watch.wake);
    const poll = async (): Promise<ToolResult> => {
      for (let status = first; ; status = await watch.next(signal)) {
        await see(status);
        desk?.see(status);
        if (isOver(status)) return wire.outcome(status, signal);
      }
    };
    // Where the answer of the call does not come, the task tells.
    const direct = answer?.then(
      async (result) => {
        await see({ ...(latest ?? first), state: "completed", questions: [] });
        return result;
      },
      () => new Promise<never>(() => {}),
    );
    try {
      return await Promise.race([
        poll(),
        ...(direct === undefined ? [] : [direct]),
        ...(desk === undefined ? [] : [desk.failed]),
      ]);
    } finally {
      over.abort(new TaskClientError("detached", "the call is over"));
      watch.close();
      desk?.close();
    }
  };

  const run = async (): Promise<ToolResult> => {
    try {
      const begun = await orAborted(sent.begun, ended.signal);
      if (begun.kind === "result") return begun.result;
      taskId = begun.status.taskId;
      return await orAborted(follow(begun.status, begun.answer), ended.signal);
    } catch (error) {
      // On SEP-1686 a task that is cancelled by its ID is deleted.
      const isGone = isCancelling && isTaskClientError(error, "not_found");
      throw aboutTask(
        isGone ? new TaskClientError("cancelled", "the task was cancelled", { cause: error }) : error,
        taskId,
      );
    } finally {
      parts.onFollowed?.();
    }
  };
  const result = run();
  result.catch(() => {});
  const cancel = async (): Promise<void> => {
    isCancelling = true;
    try {
      await sent.cancel();
    } catch (error) {
      // 2025-11-25 refuses to cancel what is over: `result()` tells what it came to.
      if (taskId === undefined || !isTaskClientError(error, "refused")) throw error;
      if (!isOver(await wire.read(taskId))) throw error;
    }
  };
  endWith(result, { options, clock, end, cancel });

  return {
    get taskId() {
      return taskId;
    },
    created,
    wire: wire.name,
    status: () => latest,
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
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (timeoutMs !== undefined) {
    clock.sleep(timeoutMs, over.signal).then(
      () => end("timeout", `no result within ${timeoutMs} ms; the task goes on`),
      () => {},
    );
  }
  const done = (): void => {
    signal?.removeEventListener("abort", onAbort);
    over.abort();
  };
  result.then(done, done);
};

const orAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
