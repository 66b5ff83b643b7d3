import { isBridgeError, type TaskEngine } from "@taskbridge/core";
import { usageError } from "./cli-error.ts";

const pageSize = 100;
/** So many of the newest tasks are looked through: stores find tasks by their whole ID only. */
const mostSearched = 10_000;

export interface TaskIdResolver {
  /** Acts on the task that an operator means by an ID, and on the one that a client called so where there is no such task. */
  act<Value>(taskId: string, action: (taskId: string) => Promise<Value>): Promise<Value>;
}

/**
 * What a client minted is known to stores with its owner's scope, but what is told of a task to clients, models and people
 * names the bare ID. An operator may say that one where it means one task. `includeExpired`: also those that are kept for
 * their records only.
 */
export const taskIdResolver = (
  engine: Pick<TaskEngine, "listTasks">,
  { includeExpired = false }: { readonly includeExpired?: boolean } = {},
): TaskIdResolver => {
  const found = new Map<string, string>();
  return {
    act: async (taskId, action) => {
      try {
        return await action(found.get(taskId) ?? taskId);
      } catch (error) {
        if (found.has(taskId) || !isUnknown(error) || isScoped(taskId)) throw error;
        const fullId = await findFullId(engine, taskId, includeExpired);
        if (fullId === undefined) throw error;
        found.set(taskId, fullId);
        return action(fullId);
      }
    },
  };
};

const isUnknown = (error: unknown): boolean =>
  isBridgeError(error) && error.code === "not_found" && error.data?.["expired"] !== true;

const isScoped = (taskId: string): boolean => taskId.includes("~");

/** Throws a usage error where several tasks are called so, or where not all could be looked at. */
const findFullId = async (
  engine: Pick<TaskEngine, "listTasks">,
  publicId: string,
  includeExpired: boolean,
): Promise<string | undefined> => {
  const found: string[] = [];
  let cursor: string | undefined;
  let searched = 0;
  do {
    const page = await engine.listTasks({ operator: true }, { includeExpired }, cursor, pageSize);
    for (const { record } of page.tasks) {
      if (isScoped(record.taskId) && record.taskId.slice(record.taskId.indexOf("~") + 1) === publicId) {
        found.push(record.taskId);
      }
    }
    searched += page.tasks.length;
    cursor = page.cursor;
  } while (cursor !== undefined && searched < mostSearched);
  if (found.length > 1) throw isAmbiguous(publicId, found);
  if (cursor !== undefined) throw isOutOfReach(publicId, found);
  return found[0];
};

const isAmbiguous = (publicId: string, found: readonly string[]): Error =>
  usageError(`several owners have a task ${publicId}; choose one:${found.map((id) => `\n  ${id}`).join("")}`);

const isOutOfReach = (publicId: string, found: readonly string[]): Error => {
  const [known] = found;
  const looked = `only the newest ${mostSearched} tasks were looked through for a task ${publicId}`;
  return usageError(
    known === undefined
      ? `${looked}: give its full ID, OWNER~${publicId}, as \`tasks list\` shows it`
      : `${looked}, and others may be called so, too: give its full ID, ${known}, if that is the one`,
  );
};
