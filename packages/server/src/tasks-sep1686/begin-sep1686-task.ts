import type { Result } from "@modelcontextprotocol/server";
import { isBridgeError, parseClientId, type TaskView } from "@taskbridge/core";
import { isToolError, toErrorResult } from "@taskbridge/protocol";
import { isUsedId, taskMarkPath, toUsedIdError } from "@taskbridge/protocol/tasks-sep1686";
import { toAccess } from "../caller.ts";
import { createTask } from "../mcp/create-task.ts";
import { nameTheField } from "../mcp/name-the-field.ts";
import type { Sep1686Call } from "./sep1686-call.ts";
import { givenUp, toFault } from "./to-sep1686-fault.ts";

/** The new task, or the answer where there is none to make. */
export type Sep1686Begun = { readonly view: TaskView } | { readonly answer: Result };

/** Makes the task. Rejects for an ID that cannot be one or was used before, before anybody is asked anything. */
export const beginSep1686Task = async (draft: Sep1686Call): Promise<Sep1686Begun> => {
  const { context, tool, request, call, task, lifetime } = draft;
  requireId(draft);
  if (tool.prepare !== undefined) await requireUnused(draft);
  const prepared = await call.prepare(tool, request.params.arguments);
  if ("answer" in prepared) return prepared;
  if (lifetime.gone.aborted) throw givenUp();
  try {
    const starting = { context, caller: request, tool, lifetime };
    const origin = call.origin === undefined ? {} : { origin: call.origin };
    return { view: await createTask(starting, { ...task, ...origin, input: prepared.input }) };
  } catch (error) {
    if (lifetime.gone.aborted) throw givenUp();
    // There is no task then, and the answer is what it would be without the mark.
    if (isBridgeError(error) && isToolError(error) && !isUsedId(error)) {
      return { answer: { ...toErrorResult(error.message) } };
    }
    throw error;
  }
};

/** What is wrong with the mark is an error of the request. */
const requireId = ({ task: { taskId }, request: { owner } }: Sep1686Call): void => {
  try {
    parseClientId(taskId, owner);
  } catch (error) {
    nameTheField(`${taskMarkPath}.`)(error);
  }
};

/** Nobody is asked anything for a call that cannot become a task any more. */
const requireUnused = async ({ context, request, task: { taskId } }: Sep1686Call): Promise<void> => {
  try {
    await context.engine.readTask(taskId, toAccess(request.owner));
  } catch (error) {
    if (!isBridgeError(error) || error.code !== "not_found") throw error;
    if (error.data?.expired !== true) return;
  }
  throw toFault(toUsedIdError(taskId));
};
