import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import type { ResolvedTool, TaskView } from "@taskbridge/core";
import { internalErrorCode, invalidParamsCode, parseCursor, parseTaskId, type RpcError } from "@taskbridge/protocol";
import {
  endedCannotBeCancelled,
  type Task,
  type TaskParams,
  toCreateResult,
  toTask,
  toTaskResult,
} from "@taskbridge/protocol/tasks-2025-11-25";
import { toAccess } from "../caller.ts";
import { followCall } from "../mcp/call-lifetime.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import { createTask, stopIfGone } from "../mcp/create-task.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";
import { waitForChange } from "../mcp/wait-for-change.ts";
import { toOrigin } from "../session/call-origin.ts";
import { firstOf } from "../session/first-of.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { requireListable } from "../session/require-listable.ts";
import { toTaskOptions } from "../session/to-task-options.ts";

/** The most tasks that one page of `tasks/list` holds. */
const pageSize = 50;
/** A wait looks around at least this often (milliseconds): who asks a question may have died meanwhile. */
const pollOpenTasksMs = 15_000;

/** Answers a `tools/call` that asks to become a task. Whatever is wrong with it is an error, and there is no task. */
export const callAsTask = async (
  context: ServeContext,
  caller: Caller,
  tool: ResolvedTool,
  { request, call, task }: { readonly request: Request2025; readonly call: CallRequest; readonly task: TaskParams },
): Promise<Result> => {
  const lifetime = followCall(call, context.stopping);
  const starting = { context, caller, tool, lifetime };
  try {
    const prepared = await call.prepare(tool, request.params.arguments);
    if ("answer" in prepared) throw notStarted(prepared.answer);
    const { name } = request.session;
    const origin = name === undefined ? {} : { origin: toOrigin(name) };
    const view = await createTask(starting, { ...task, ...origin, input: prepared.input });
    await stopIfGone(starting, view);
    request.session.watch.begin(view, request.owner, call.progressToken);
    return { ...toCreateResult(view, view.immediateResponse) };
  } finally {
    lifetime.settle();
  }
};

/** Answers `tasks/get`: one read. */
export const getTask = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const view = await context.engine.readTask(parseTaskId(request.params), toAccess(request.owner));
  request.session.watch.remember(view, request.owner);
  return { ...show(context, request, view) };
};

/**
 * Answers `tasks/result` once the task has ended, with what the call would have answered. Meanwhile its stream is where
 * the task's questions are put. A stop of the server ends the wait without an answer: the task goes on, and the client
 * may ask again.
 */
export const getTaskResult = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const { session, owner, signal } = request;
  const taskId = parseTaskId(request.params);
  const access = toAccess(owner);
  let view = await context.engine.readTask(taskId, access);
  if (!hasEnded(view)) {
    const leave = context.waits.acquire(owner);
    const channel = session.channelOf(request.id);
    session.watch.attend(view, owner);
    const close = session.channels.openFor(view.record.taskId, channel);
    const { signal: over, release } = firstOf([signal, channel.closed, context.stopping]);
    try {
      while (!hasEnded(view)) {
        session.watch.observe(view, owner);
        if (over.aborted) return await leaveUnanswered(context, signal);
        view = await waitForChange(context, { view, owner, timeoutMs: pollOpenTasksMs, over });
      }
      session.watch.observe(view, owner);
    } finally {
      release();
      close();
      leave();
    }
  } else {
    session.watch.observe(view, owner);
    // Whoever has the result is not told of the end any more.
    session.watch.remember(view, owner);
  }
  const outcome = toTaskResult(view, { expectation: context.catalog.expectation(view.record.tool) });
  if ("error" in outcome) throw toFault(outcome.error);
  return { ...outcome.result, _meta: { ...outcome.result._meta } };
};

/** Answers `tasks/list`, newest first. */
export const listTasks = async (context: ServeContext, request: Request2025): Promise<Result> => {
  requireListable(request);
  const access = toAccess(request.owner);
  const page = await context.engine.listTasks(access, {}, parseCursor(request.params), pageSize);
  const tasks = await Promise.all(
    page.tasks.map(async (listed) => {
      const view = await withOutput(context, request, listed);
      return show(context, request, view);
    }),
  );
  return { tasks, ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) };
};

/** Answers `tasks/cancel`: the task is `cancelled` from now on, on every wire, while the backend is still being told. */
export const cancelTask = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const taskId = parseTaskId(request.params);
  const access = toAccess(request.owner);
  const before = await context.engine.readTask(taskId, access);
  const view = hasEnded(before)
    ? before
    : await context.engine.cancelTask(taskId, access, { reason: "the client asked for it", isFinal: true });
  // It may have ended by itself between the two.
  if (hasEnded(before) || view.record.state !== "cancelled") {
    throw toFault(endedCannotBeCancelled(show(context, request, view)));
  }
  return { ...show(context, request, view) };
};

const show = (context: ServeContext, { session }: Request2025, view: TaskView): Task =>
  toTask(view, toTaskOptions(context, session, view.record));

/**
 * Lists carry no outputs, but whether one fits its schema decides about the status. One that cannot be read, maybe because
 * it has expired since it was listed, keeps nobody from the rest of the list.
 */
const withOutput = async (context: ServeContext, request: Request2025, listed: TaskView): Promise<TaskView> => {
  const { state, tool, taskId } = listed.record;
  if (state !== "succeeded" || context.catalog.expectation(tool) === undefined) return listed;
  try {
    return await context.engine.readTask(taskId, toAccess(request.owner));
  } catch (error) {
    context.log.warn({ err: error, taskId }, "the output of a listed task could not be read");
    return listed;
  }
};

/** A client that waits while the server is stopped is to ask again: it gets no answer, and its stream is closed. */
const leaveUnanswered = ({ stopping }: ServeContext, cancelled: AbortSignal): Promise<never> => {
  if (stopping.aborted && !cancelled.aborted) return new Promise<never>(() => {});
  throw new ProtocolError(internalErrorCode, "The wait was given up");
};

const toFault = ({ code, message, data }: RpcError): ProtocolError => new ProtocolError(code, message, data);

/** The questions before a task led to an answer instead of a start. */
const notStarted = ({ content }: Result): ProtocolError => {
  const texts = Array.isArray(content) ? content.flatMap((block: { text?: unknown }) => block.text ?? []) : [];
  return new ProtocolError(invalidParamsCode, texts.join("\n") || "The call was not carried out");
};
