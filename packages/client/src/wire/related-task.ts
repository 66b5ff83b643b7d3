import { type Members, toMembers } from "../is-object.ts";

/** Marks of the SEP-1686 draft in `_meta`: of a call that is to become a task, and of what is about a task. */
export const taskKey = "modelcontextprotocol.io/task";
export const relatedTaskKey = "modelcontextprotocol.io/related-task";

/** What 2025-11-25 made of the latter. */
const coreRelatedTaskKey = "io.modelcontextprotocol/related-task";

export const relatedMeta = (taskId: string): Members => ({ [relatedTaskKey]: { taskId } });

/** The task that a message of either 2025 wire is about, where it says so. */
export const relatedTaskId = (params: Members): string | undefined => {
  const meta = toMembers(params["_meta"]);
  const { taskId } = toMembers(meta[coreRelatedTaskKey] ?? meta[relatedTaskKey]);
  return typeof taskId === "string" ? taskId : undefined;
};
