import type { TaskStatus } from "../task-source.ts";
import { taskCommand } from "./task-command.ts";

/** The words of servers of ours for a question that they do not put to this client. */
const withheld = /\bwaits for (?:an answer that this client (?:cannot|did not) give|a person at |a secret, )/;

/**
 * Where the server puts its questions itself: that it cannot put one here, and who can answer it. Undefined where nothing
 * is asked, or it may still come. `asks`: there is a person here.
 */
export const formatWithheld = (task: TaskStatus, asks: boolean): string | undefined => {
  const { taskId, state, message, progress, questions } = task;
  const isWithheld = withheld.test(message ?? "") || withheld.test(progress?.message ?? "");
  const isLeft = !asks && state === "waiting" && questions.length === 0;
  if (!isWithheld && !isLeft) return undefined;
  return `The task waits for an answer by a person, which cannot be given here. On the server's host, this gives it:\n  ${taskCommand("answer", taskId, "")}`;
};
