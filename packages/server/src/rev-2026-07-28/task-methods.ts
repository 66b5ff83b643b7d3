import type { Result, ServerContext } from "@modelcontextprotocol/server";
import { BridgeError, openQuestions } from "@taskbridge/core";
import { parseTaskId } from "@taskbridge/protocol";
import { acknowledgement, fromInputResponses, toDetailedTask } from "@taskbridge/protocol/tasks-2026-07-28";
import { toAccess } from "../caller.ts";
import { nameTheField } from "../mcp/name-the-field.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";

export type TaskMethodParams = Readonly<Record<string, unknown>>;

/** Answers `tasks/get`: one read. */
export const getTask = async (context: ServeContext, caller: Caller, params: TaskMethodParams): Promise<Result> => {
  const view = await context.engine.readTask(parseTaskId(params), toAccess(caller.owner));
  const task = toDetailedTask(view, caller.capabilities, context.catalog.expectation(view.record.tool));
  return { resultType: "complete", ...task };
};

/** Answers `tasks/update`. The answers are written down when this resolves. */
export const updateTask = async (
  context: ServeContext,
  caller: Caller,
  params: TaskMethodParams,
  request: ServerContext,
): Promise<Result> => {
  const taskId = parseTaskId(params);
  const responses = readResponses(request);
  const access = toAccess(caller.owner);
  const { record } = await context.engine.readTask(taskId, access);
  const questions = new Map(openQuestions(record.questions).map((question) => [question.key, question]));
  const answers = fromInputResponses(responses, questions, caller.capabilities);
  if (Object.keys(answers).length > 0)
    await context.engine.answerTask(taskId, access, answers).catch(nameTheField("inputResponses."));
  return { ...acknowledgement };
};

/** Answers `tasks/cancel`: the backend is told, and the task ends as the backend ends. */
export const cancelTask = async (context: ServeContext, caller: Caller, params: TaskMethodParams): Promise<Result> => {
  await context.engine.cancelTask(parseTaskId(params), toAccess(caller.owner), {
    reason: "the client asked for it",
    isFinal: false,
  });
  return { ...acknowledgement };
};

/** The SDK takes responses out of the params and leaves out what is no object; that still has to be refused by name. */
const readResponses = ({ mcpReq }: ServerContext): Readonly<Record<string, unknown>> => {
  const dropped = mcpReq.droppedInputResponseKeys ?? [];
  if (mcpReq.inputResponses === undefined && dropped.length === 0) {
    throw new BridgeError("invalid_input", "inputResponses: an object is needed", { data: { path: "inputResponses" } });
  }
  return { ...mcpReq.inputResponses, ...Object.fromEntries(dropped.map((key) => [key, undefined])) };
};
