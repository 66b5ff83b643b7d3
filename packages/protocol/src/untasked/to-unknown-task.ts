import { openQuestions, type TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { type ToolResult, toErrorResult } from "../tool-result.ts";

/** The most of the caller's own tasks that are listed. */
export const mostOpenTasks = 10;

/** Of an ID that nobody knows more is not repeated (characters). */
const mostShown = 100;

/**
 * The answer to an ID that is not known to this caller, or known no longer: with the caller's own open tasks, so that a
 * model that guessed can go on. `reason`: as the engine has said it. `open`: undefined where nobody has tasks of its own.
 */
export const toUnknownTask = (taskId: string, reason: string, open: readonly TaskView[] | undefined): ToolResult => {
  const shown = taskId.length > mostShown ? `${taskId.slice(0, mostShown)}…` : taskId;
  const told = `${reason}: ${JSON.stringify(shown)}.`;
  if (open === undefined) return toErrorResult(`${told} Take the ID from the answer that named it.`);
  if (open.length === 0) return toErrorResult(`${told} You have no open tasks.`);
  return toErrorResult([`${told} Your open tasks:`, ...open.map(toLine)].join("\n"));
};

const toLine = ({ record, staleSince }: TaskView): string => {
  const message = toStatusMessage(record, staleSince);
  const standing =
    record.cancel !== undefined
      ? "being stopped"
      : openQuestions(record.questions).length > 0
        ? "waits for an answer"
        : "running";
  return `- ${record.taskId} of ${record.tool}: ${standing}${message === undefined ? "" : ` (${message})`}`;
};
