import type { Result } from "@modelcontextprotocol/server";
import type { TaskView } from "@taskbridge/core";
import { parseCursor, parseTaskId } from "@taskbridge/protocol";
import { relatedTask, type Task, toTask, toTaskResult } from "@taskbridge/protocol/tasks-sep1686";
import { toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { requireListable } from "../session/require-listable.ts";
import { toInquiry } from "../session/to-inquiry.ts";
import { inSep1686Words, toFault } from "./to-sep1686-fault.ts";

/** The most tasks that one page of `tasks/list` holds. */
const pageSize = 50;

/** Answers `tasks/get`: one read. What the task asks goes out now where no call waits on a stream of its own. */
export const getSep1686Task = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const view = await readTask(context, request);
  request.session.watch.observe(view, request.owner);
  return { ...show(context, request, view), _meta: { ...relatedTask(view.record.taskId) } };
};

/** Answers `tasks/result`, which does not wait: https://modelcontextprotocol.io/seps/1686-tasks#4-6-result-retrieval */
export const getSep1686TaskResult = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const view = await readTask(context, request);
  const expectation = context.catalog.expectation(view.record.tool);
  const outcome = toTaskResult(view, show(context, request, view), { expectation });
  if ("error" in outcome) throw toFault(outcome.error);
  return { ...outcome.result, _meta: { ...outcome.result._meta } };
};

/** Answers `tasks/list`, newest first. */
export const listSep1686Tasks = async (context: ServeContext, request: Request2025): Promise<Result> => {
  requireListable(request);
  const cursor = parseCursor(request.params);
  const page = await context.engine.listTasks(toAccess(request.owner), {}, cursor, pageSize);
  return {
    tasks: page.tasks.map((view) => ({ ...show(context, request, view) })),
    ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }),
  };
};

/** Answers `tasks/delete`. One that still runs is stopped, and gone for everybody from now on. */
export const deleteSep1686Task = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const taskId = parseTaskId(request.params);
  await inSep1686Words(context.engine.deleteTask(taskId, toAccess(request.owner)));
  return { _meta: { ...relatedTask(taskId) } };
};

const readTask = (context: ServeContext, { params, owner }: Request2025): Promise<TaskView> =>
  inSep1686Words(context.engine.readTask(parseTaskId(params), toAccess(owner)));

const show = ({ allowModelAnswers }: ServeContext, { session }: Request2025, view: TaskView): Task => {
  const { taskId } = view.record;
  return toTask(view, {
    canAsk: (question) =>
      !session.hasGivenUp(taskId, question.key) &&
      typeof toInquiry(question, taskId, session.capabilities(), allowModelAnswers) !== "string",
  });
};
