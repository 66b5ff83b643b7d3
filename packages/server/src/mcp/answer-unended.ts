import type { Result } from "@modelcontextprotocol/server";
import { openQuestions, type TaskView } from "@taskbridge/core";
import { type HandleOptions, maxWaitSeconds, toHandle } from "@taskbridge/protocol/no-tasks";
import { hasCompanions } from "./companions-policy.ts";
import type { ServeContext } from "./serve-context.ts";
import type { WaitingCall } from "./wait-for-task.ts";

/** What to answer for a task that has not ended: its question, where the caller's user can be asked that way, else a handle. */
export const answerUnended = async (
  call: WaitingCall,
  view: TaskView,
  options: Pick<HandleOptions, "isDeduplicated"> = {},
): Promise<Result> => {
  const { asAnswer } = call.request.questions;
  const askable = openQuestions(view.record.questions).filter((question) => asAnswer?.isAskable(question));
  if (asAnswer !== undefined && askable.length > 0) return asAnswer.ask(view, askable);
  return giveHandle(call, view, options);
};

/** The handle, which counts as a look of its caller. */
export const giveHandle = (
  call: WaitingCall,
  view: TaskView,
  options: Pick<HandleOptions, "isDeduplicated"> = {},
): Result => {
  const { context, caller } = call;
  context.pollMemory.note(view, caller.owner);
  const early = context.pollMemory.early(view.record.taskId, caller.owner);
  return toHandleResult(call, view, { ...options, early });
};

const toHandleResult = (
  { context, caller, request }: WaitingCall,
  view: TaskView,
  options: Pick<HandleOptions, "isDeduplicated" | "early">,
): Result => {
  const { beside, asAnswer } = request.questions;
  const open = openQuestions(view.record.questions);
  const isPut = open.length > 0 && open.every((question) => beside?.isPut(view.record.taskId, question));
  const isPutLater = open.length > 0 && open.every((question) => asAnswer?.isDeclared(question));
  return {
    ...toHandle(view, {
      ...options,
      ...(isPut ? { asked: "now" as const } : isPutLater ? { asked: "again" as const } : {}),
      ...(hasCompanions(context, caller)
        ? { companions: { waitSeconds: advisedSeconds(context), modelAnswers: context.allowModelAnswers } }
        : {}),
    }),
  };
};

/** Shorter is no waiting, and no host gives up sooner (seconds). */
const minSeconds = 10;

/** What callers are advised to give `task_status` as `waitSeconds`: as long as a call itself waits, within reason. */
export const advisedSeconds = ({ waitMs }: Pick<ServeContext, "waitMs">): number =>
  Math.min(Math.max(Math.round(waitMs / 1000), minSeconds), maxWaitSeconds);
