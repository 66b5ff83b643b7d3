import { setTimeout as sleep } from "node:timers/promises";
import {
  isTaskClientError,
  type PendingCall,
  type TaskClient,
  type ToolResult,
  type GivenAnswer as WireAnswer,
  type Question as WireQuestion,
} from "@taskbridge/client";
import { unlessAborted } from "@taskbridge/core/adapter";
import { CliError, exitCodes, interruptedError } from "./cli-error.ts";
import type { CallOptions } from "./task-source.ts";
import { listCommand, taskCommand } from "./terminal/task-command.ts";
import { toQuestion } from "./wire/to-status.ts";
import { toWireAnswers } from "./wire/to-wire-answers.ts";

export interface StartParts<Task> {
  readonly calls: TaskClient;
  readonly url: URL;
  /** Whether there is a person to put questions to. */
  readonly asks: boolean;
  /** How another command reaches the task. */
  readonly flags: string;
  /** Reads the task that the call has become, while the call still takes its questions. */
  toTask(taskId: string, pending: PendingCall): Promise<Task>;
}

export type Started<Task> =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "result"; readonly result: ToolResult };

/** Interrupted before a task is there, these calls are cancelled: the others have an ID as soon as the server answers at all. */
const stopsUntold = new Set(["none", "sep-1686"]);

/** So long an interrupted call waits for the ID of its task, which is all that leads back to it (milliseconds). */
const patienceMs = 3_000;
const cancelPatienceMs = 1_000;

/**
 * Sends a call and waits until it is a task or has its result. When the signal fires: rejects as interrupted, unless the
 * task comes soon all the same.
 */
export const startCall = async <Task>(
  parts: StartParts<Task>,
  tool: string,
  input: object,
  { ask, signal, report }: CallOptions,
): Promise<Started<Task>> => {
  if (signal.aborted) throw interruptedError("Interrupted: nothing was sent.");
  const { calls, asks, url, flags, toTask } = parts;
  const cancelling = new AbortController();
  const pending = calls.beginCall(
    tool,
    { ...input },
    {
      // Where nobody can be asked, a server without tasks is to know it: it then hands out what can be answered elsewhere.
      ...(calls.wire === "none" && !asks
        ? {}
        : ({ onQuestion: toOnQuestion(ask), questions: asks ? "hold" : "leave" } as const)),
      ...(stopsUntold.has(calls.wire) ? { signal: cancelling.signal, cancelOnAbort: true } : {}),
    },
  );
  const leaving = leaveLate(signal, () => {
    // What has no task cannot go on without this process.
    if (calls.wire === "none") cancelling.abort();
    else report?.("Interrupted: waiting for the ID of the task, which goes on; once more ends this at once.");
  });
  let hasTask = false;
  try {
    // Whichever is first: an interrupted wait has no task.
    const first = Promise.race([pending.created, pending.result().then(() => undefined)]);
    const taskId = await unlessAborted(leaving.signal, first);
    if (taskId === undefined) return { kind: "result", result: await pending.result() };
    hasTask = true;
    return { kind: "task", task: await unlessAborted(leaving.signal, toTask(taskId, pending)) };
  } catch (error) {
    if (!signal.aborted) throw calls.wire === "none" && !asks ? withoutTerminal(error, url) : error;
    if (!hasTask) cancelling.abort();
    throw await toInterruption(pending, { hasTask, isLate: leaving.signal.aborted, flags, url });
  } finally {
    leaving.dispose();
    pending.detach();
  }
};

/** Fires a while after the other signal, which is told at once. */
const leaveLate = (signal: AbortSignal, onInterrupt: () => void): { readonly signal: AbortSignal; dispose(): void } => {
  const leaving = new AbortController();
  let patience: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    patience = setTimeout(() => leaving.abort(signal.reason), patienceMs);
    onInterrupt();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    signal: leaving.signal,
    dispose: () => {
      clearTimeout(patience);
      signal.removeEventListener("abort", onAbort);
    },
  };
};

const toOnQuestion =
  (ask: CallOptions["ask"]) =>
  async (question: WireQuestion): Promise<WireAnswer> => {
    const answers = await ask([toQuestion(question)]);
    return toWireAnswers(answers)[question.key] ?? { action: "cancel" };
  };

interface Leaving extends Pick<StartParts<unknown>, "flags" | "url"> {
  readonly hasTask: boolean;
  readonly isLate: boolean;
}

/** Whoever left the wait does not know of a task: what became of the call, and how to find out more. */
const toInterruption = async (pending: PendingCall, { hasTask, isLate, flags, url }: Leaving): Promise<CliError> => {
  const { taskId } = pending;
  const about = taskId === undefined ? {} : { taskId, hint: `  ${taskCommand("watch", taskId, flags)}` };
  if (hasTask) return interruptedError("Interrupted before it was known how the task stands. It goes on:", about);
  const failure = pending.result().then(
    () => undefined,
    (error: unknown) => (isTaskClientError(error) ? error.code : undefined),
  );
  const patience = sleep(cancelPatienceMs, undefined, { ref: false });
  const code = stopsUntold.has(pending.wire) ? await Promise.race([failure, patience]) : undefined;
  if (code === "cancelled") return interruptedError("Interrupted: the call was cancelled.");
  if (code === "outcome_unknown" && taskId === undefined) {
    return interruptedError(
      "Interrupted at a question, with which the server had answered the call: nothing was left to cancel, and the job may go on. To look for it, here or by `taskbridge tasks list` on the server's host:",
      { hint: `  ${listCommand(url, pending.wire)}` },
    );
  }
  return isLate
    ? interruptedError("Interrupted: the server has not answered the call, and may run it all the same.", about)
    : interruptedError("Interrupted before there was a task.");
};

/** A server may ask although it was told that nobody can be asked. */
const withoutTerminal = (error: unknown, url: URL): unknown =>
  isTaskClientError(error, "unsupported")
    ? new CliError(`${url}: the tool asks a person before it answers, and this is no terminal`, exitCodes.failed, {
        cause: error,
        code: error.code,
      })
    : error;
