import { safeText } from "./safe-text.ts";
import { shellWord } from "./shell-word.ts";

/** A command about a task that a person can paste, whatever its server has called the task. */
export const taskCommand = (verb: "answer" | "watch", taskId: string, flags: string): string => {
  const word = shellWord(taskId);
  return `taskbridge tasks ${verb} ${taskId.startsWith("-") ? `${flags} -- ${word}` : `${word} ${flags}`}`;
};

/** An ID to be read: on one line, and nothing that a terminal would obey. */
export const shownId = (taskId: string): string => safeText(taskId).replaceAll(/\s/g, "\u{FFFD}");
