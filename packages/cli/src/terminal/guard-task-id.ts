/** 160 bits as base64url: one in 64 of the engine's IDs begins with a dash. */
const dashedTaskId = /^-[\w-]{26}$/;

/**
 * Moves an ID that looks like options behind `--`, so that the commands we print, and what scripts pass on, work with every
 * ID. A word behind an option is that option's value; only `--json` takes none.
 */
export const guardTaskId = (args: readonly string[]): string[] => {
  if (args[0] !== "tasks" || args.includes("--")) return [...args];
  const place = args.findIndex((word, index) => dashedTaskId.test(word) && !takesValue(args[index - 1] ?? ""));
  const taskId = args[place];
  return taskId === undefined ? [...args] : [...args.slice(0, place), ...args.slice(place + 1), "--", taskId];
};

const takesValue = (word: string): boolean =>
  word.startsWith("-") && word !== "--json" && !word.includes("=") && !dashedTaskId.test(word);
