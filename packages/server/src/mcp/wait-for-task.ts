import { openQuestions, type TaskQuestion, type TaskView } from "@taskbridge/core";
import type { CallLifetime } from "./call-lifetime.ts";
import type { CallRequest } from "./call-request.ts";
import type { Caller, ServeContext } from "./serve-context.ts";
import { toReporter } from "./to-reporter.ts";
import { waitForAnswer } from "./wait-for-answer.ts";

/** A call whose caller knows no tasks, while it waits for one. */
export interface WaitingCall {
  readonly context: ServeContext;
  readonly caller: Caller;
  readonly request: CallRequest;
  readonly lifetime: CallLifetime;
}

export interface TaskWait {
  /** As the task stands now. */
  readonly view: TaskView;
  /** Milliseconds. */
  readonly waitMs: number;
  /** Keys of questions that the caller was told of: they end no wait, unless its user can be asked. */
  readonly known: ReadonlySet<string>;
}

/**
 * Waits until a task has ended, or asks something that the caller has to be told, but no longer than it can stand.
 * Questions that can be put beside the call are, and a person gets the whole wait to answer.
 */
export const waitForTask = async (call: WaitingCall, { view, waitMs, known }: TaskWait): Promise<TaskView> => {
  const { context, caller, request, lifetime } = call;
  const { taskId } = view.record;
  const { beside, asAnswer } = request.questions;
  const endsWait = (question: TaskQuestion): boolean => {
    if (asAnswer?.isAskable(question) === true) return true;
    return !known.has(question.key) && beside?.isPut(taskId, question) !== true;
  };
  const dialogs = beside?.open(taskId);
  const report = toReporter(call);
  try {
    return await waitForAnswer(context, caller, {
      view,
      waitMs,
      over: lifetime.over,
      isEnough: ({ record }) => openQuestions(record.questions).some(endsWait),
      ...(report === undefined ? {} : { report }),
      ...(dialogs === undefined ? {} : { observe: dialogs.observe }),
    });
  } finally {
    dialogs?.close();
  }
};
