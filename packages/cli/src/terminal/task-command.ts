import { shellWord } from "./shell-word.ts";

/** The command that does something with one task, to be pasted as it is. `flags` is how it reaches the task; none on the server's host. */
export const taskCommand = (verb: "answer" | "watch", taskId: string, flags: string): string => {
  const id = shellWord(taskId);
  // What begins with a dash would be taken for a flag.
  const words = id.startsWith("-") ? [flags, "--", id] : [id, flags];
  return ["taskbridge tasks", verb, ...words].filter((word) => word !== "").join(" ");
};

/** The command that lists the tasks of a server. Over its newest wire nothing can be listed. */
export const listCommand = (url: URL, wire: string): string =>
  `taskbridge tasks list --url ${shellWord(url.href)} --wire ${wire === "sep-1686" ? wire : "2025-11-25"}`;
