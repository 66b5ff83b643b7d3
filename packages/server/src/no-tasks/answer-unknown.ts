import type { Result } from "@modelcontextprotocol/server";
import { type BridgeError, isBridgeError, type TaskView, toPublicMessage } from "@taskbridge/core";
import { maxOpenTasks, toUnknownTask } from "@taskbridge/protocol/no-tasks";
import { toAccess } from "../caller.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";

/** The answer for a task that this caller does not have: with those that it has. */
export const answerUnknown = async (
  context: ServeContext,
  caller: Pick<Caller, "owner">,
  taskId: string,
  error: BridgeError,
): Promise<Result> => ({
  ...toUnknownTask(taskId, toPublicMessage(error), await listOpen(context, caller)),
});

/** Undefined where callers have no owner, and nothing can be listed. */
const listOpen = async (
  { engine, log }: ServeContext,
  { owner }: Pick<Caller, "owner">,
): Promise<readonly TaskView[] | undefined> => {
  if (owner === null) return undefined;
  try {
    const { tasks } = await engine.listTasks(toAccess(owner), { slotHeld: true }, undefined, maxOpenTasks);
    return tasks;
  } catch (error) {
    // The list is an extra; that the ID is unknown is the answer.
    if (!isBridgeError(error)) throw error;
    log.warn({ err: error }, "the open tasks of a caller could not be listed");
    return undefined;
  }
};
