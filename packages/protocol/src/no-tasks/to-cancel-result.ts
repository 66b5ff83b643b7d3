import { openQuestions, type TaskView } from "@taskbridge/core";
import { type ToolResult, textBlock } from "../tool-result.ts";
import { toEnd } from "./to-ended-result.ts";

const ends = { succeeded: "completed", failed: "failed", cancelled: "cancelled" } as const;

/** What `task_cancel` answers. `hadEnded`: before it was called, so that there was nothing to stop. */
export const toCancelResult = (
  view: TaskView,
  { hadEnded, waitSeconds }: { readonly hadEnded: boolean; readonly waitSeconds: number },
): ToolResult => {
  const { record } = view;
  const { taskId, tool, state } = record;
  if (state === "succeeded" || state === "failed" || state === "cancelled") {
    const note = hadEnded ? " There was nothing left to stop." : "";
    const next = state === "cancelled" ? undefined : `Call task_status with taskId ${taskId} for its result.`;
    return toResult(taskId, ends[state], `${toEnd(view)}${note}`, next);
  }
  const taskStatus = openQuestions(record.questions).length > 0 ? "input_required" : "working";
  const text = `Task ${taskId} of ${tool} was asked to stop, and has not stopped yet.`;
  return toResult(
    taskId,
    taskStatus,
    text,
    `Call task_status with taskId ${taskId} and waitSeconds ${waitSeconds} to see how it ends.`,
  );
};

const toResult = (taskId: string, taskStatus: string, text: string, next: string | undefined): ToolResult => ({
  content: [textBlock(next === undefined ? text : `${text} ${next}`)],
  structuredContent: { taskId, taskStatus, ...(next === undefined ? {} : { next }) },
  isError: false,
});
