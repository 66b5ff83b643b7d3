import { shellWord } from "./shell-word.ts";

/** The command that does something with one task, to be pasted as it is. `flags` is how it reaches the task. */
export const taskCommand = (verb: "answer" | "watch", taskId: string, flags: string): string => {
  const id = shellWord(taskId);
  // What begins with a dash would be taken for a flag.
  return id.startsWith("-") ? `taskbridge tasks ${verb} ${flags} -- ${id}` : `taskbridge tasks ${verb} ${id} ${flags}`;
};
