import { openQuestions, type TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { type ToolResult, toErrorResult } from "../tool-result.ts";

/** The most of the caller's own tasks that are listed. */
export const maxOpenTasks = 10;

/** Of an ID that nobody knows more is not repeated (characters). */
const maxShown = 100;

/**
 * The answer to an ID that is not known to this caller, or known no longer: with the caller's own open tasks, so that a
 * model that guessed can go on. `reason`: as the engine has said it. `open`: undefined where nobody has tasks of its own.
 */
export const toUnknownTask = (taskId: string, reason: string, open: readonly TaskView[] | undefined): ToolResult => {
  const shown = taskId.length > maxShown ? `${taskId.slice(0, maxShown)}…` : taskId;
  const text = `${reason}: ${JSON.stringify(shown)}.`;
  if (open === undefined) return toErrorResult(`${text} Take the ID from the answer that named it.`);
  if (open.length === 0) return toErrorResult(`${text} You have no open tasks.`);
  return toErrorResult([`${text} Your open tasks:`, ...open.map(toLine)].join("\n"));
};

const toLine = ({ record, staleSince }: TaskView): string => {
  const message = toStatusMessage(record, staleSince);
  const status =
    record.cancel !== undefined
      ? "being stopped"
      : openQuestions(record.questions).length > 0
        ? "waits for an answer"
        : "running";
  return `- ${record.taskId} of ${record.tool}: ${status}${message === undefined ? "" : ` (${message})`}`;
};
