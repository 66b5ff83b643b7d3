import type { TaskQuestion, TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { type ToolResult, textBlock } from "../tool-result.ts";

/**
 * What a caller that knows no tasks gets for one that has not ended: which task it is, how it stands, and how to get at
 * its result. Not an error, and small enough to keep.
 */
export const toHandle = (view: TaskView): ToolResult => {
  const { record } = view;
  const open = record.questions.filter(({ state }) => state === "open");
  const lookAgainAfterMs = Math.max(1, Math.ceil(view.pollIntervalMs));
  const message = toStatusMessage(record, view.staleSince);
  const standing =
    open.length > 0 ? toQuestions(record.taskId, open) : toWait(record.taskId, message, lookAgainAfterMs);
  return {
    content: [textBlock(`Task ${record.taskId} of ${record.tool} ${standing}`)],
    structuredContent: {
      taskId: record.taskId,
      taskStatus: open.length > 0 ? "input_required" : "working",
      lookAgainAfterMs,
      ...(message === undefined ? {} : { message }),
    },
    isError: false,
  };
};

const toWait = (taskId: string, message: string | undefined, lookAgainAfterMs: number): string => {
  const seconds = Math.max(1, Math.round(lookAgainAfterMs / 1000));
  return `is still running${message === undefined ? "" : ` (${message})`}. It goes on by itself. Look again in ${seconds} s: \`taskbridge tasks show ${taskId}\` prints its status and, once it has ended, its result.`;
};

const toQuestions = (taskId: string, open: readonly TaskQuestion[]): string => {
  const messages = open.map(({ message }) => message).join("; ");
  return `waits for an answer by a person: ${messages}. Give it with \`taskbridge tasks answer ${taskId}\`; then \`taskbridge tasks show ${taskId}\` prints its status and, once it has ended, its result.`;
};
