import type { Evidence } from "./evidence.ts";

/** What only the next version knows is left as it was, whichever version has written the record since. */
export const checkVersions = ({ tasks }: Pick<Evidence, "tasks">): readonly string[] =>
  tasks
    .filter(({ isOfNext, hasNext }) => isOfNext && !hasNext)
    .map(({ taskId, call }) => `task ${taskId} of call ${call} has lost what the next version has written into it`);
