import type { Result } from "@modelcontextprotocol/server";
import { isBridgeError, type ResolvedTool, type TaskView } from "@taskbridge/core";
import { toCancelledError } from "@taskbridge/protocol";
import { parseTaskParams, relatedTask, toCallAnswer, toCreatedNotification } from "@taskbridge/protocol/tasks-sep1686";
import { followCall } from "../mcp/call-lifetime.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { toReporter } from "../mcp/to-reporter.ts";
import { track } from "../mcp/track-call.ts";
import { hasEnded, waitForAnswer } from "../mcp/wait-for-answer.ts";
import type { Channel } from "../session/channel.ts";
import { firstOf } from "../session/first-of.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { beginSep1686Task } from "./begin-sep1686-task.ts";
import { leaveSep1686Task } from "./leave-sep1686-task.ts";
import type { Sep1686Call } from "./sep1686-call.ts";
import { inSep1686Words, toFault } from "./to-sep1686-fault.ts";

/**
 * Answers a `tools/call` that becomes a task under its client's ID: tells on the call's own stream that the task can be
 * polled, goes on with its questions and progress there, and answers as any call, at the end of the task.
 */
export const callAsSep1686Task = async (
  context: ServeContext,
  tool: ResolvedTool,
  request: Request2025,
  call: CallRequest,
): Promise<Result> => {
  const { params, owner, session } = request;
  const task = parseTaskParams(params);
  if (task === undefined) throw new TypeError("the call has no mark of the draft");
  const leave = context.waits.acquire(owner);
  const cancelling = new AbortController();
  const kept = session.draft.keep(request.id, () => cancelling.abort("the client asked for it"));
  const signals = firstOf([call.signal, cancelling.signal]);
  const lifetime = followCall({ ...call, signal: signals.signal }, context.stopping);
  const draft: Sep1686Call = { context, tool, request, call, task, lifetime };
  let isTask = false;
  try {
    const begun = await track(context, inSep1686Words(beginSep1686Task(draft)));
    if ("answer" in begun) return begun.answer;
    isTask = true;
    return await awaitEnd(draft, begun.view);
  } finally {
    if (isTask) kept.forget();
    else kept.undo();
    lifetime.settle();
    signals.release();
    leave();
  }
};

/** The end of the task on the stream of its call, which is also where it asks. */
const awaitEnd = async (draft: Sep1686Call, view: TaskView): Promise<Result> => {
  const { context, request, call, task, lifetime } = draft;
  const { session, owner } = request;
  const channel: Channel = { ...session.channelOf(request.id), isSep1686: true };
  notifyCreated(draft);
  const report = toReporter({
    context,
    request: call,
    isReady: () => channel.isReady(),
    meta: relatedTask(task.taskId),
  });
  const over = firstOf([lifetime.over, channel.closed]);
  const close = session.channels.openFor(task.taskId, channel);
  try {
    const latest = await waitForAnswer(context, request, {
      view,
      waitMs: Number.POSITIVE_INFINITY,
      isEnough: () => false,
      over: over.signal,
      observe: (received) => session.watch.observe(received, owner),
      ...(report === undefined ? {} : { report }),
    }).catch(cancelledIfGone);
    if (!hasEnded(latest)) return await leaveSep1686Task(draft);
    const outcome = toCallAnswer(latest, { expectation: context.catalog.expectation(latest.record.tool) });
    if ("error" in outcome) throw toFault(outcome.error);
    return { ...outcome.result, _meta: { ...outcome.result._meta } };
  } finally {
    over.release();
    close();
  }
};

/** A task that is gone while its call waits was deleted, and which of its last states this process has seen is chance. */
const cancelledIfGone = (error: unknown): never => {
  if (isBridgeError(error) && error.code === "not_found") throw toFault(toCancelledError());
  throw error;
};

const notifyCreated = ({ context, call, task }: Sep1686Call): void => {
  const { method, params } = toCreatedNotification(task.taskId);
  call.notify(method, { ...params }).catch((error: unknown) => {
    context.log.debug({ err: error }, "a client could not be told about its task");
  });
};
