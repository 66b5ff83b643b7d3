import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { BridgeError, isBridgeError, type ResolvedTool, type TaskRecord, type TaskView } from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import { isToolError } from "@taskbridge/protocol/ext-2026-07-28";
import {
  parseTaskParams,
  relatedTask,
  type TaskParams,
  toCallAnswer,
  toCreatedNotification,
} from "@taskbridge/protocol/sep-1686";
import { progressMethod, toProgress } from "@taskbridge/protocol/untasked";
import { toAccess } from "../caller.ts";
import type { Channel } from "../legacy/channel.ts";
import { firstOf } from "../legacy/first-of.ts";
import type { LegacyRequest } from "../legacy/legacy-request.ts";
import { type CallLifetime, followCall } from "../mcp/call-lifetime.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";
import { followToEnd } from "./follow-to-end.ts";
import { inDraftWords, toFault } from "./to-draft-fault.ts";

interface DraftCall {
  readonly context: ServeContext;
  readonly tool: ResolvedTool;
  readonly request: LegacyRequest;
  readonly call: CallRequest;
  readonly task: TaskParams;
  readonly lifetime: CallLifetime;
}

/**
 * Answers a `tools/call` that becomes a task under its client's ID: tells on the call's own stream that the task can be
 * polled, goes on with its questions and progress there, and answers as any call, at the end of the task.
 */
export const callAsDraftTask = async (
  context: ServeContext,
  tool: ResolvedTool,
  request: LegacyRequest,
  call: CallRequest,
): Promise<Result> => {
  const { params, owner, session } = request;
  const task = parseTaskParams(params);
  if (task === undefined) throw new TypeError("the call has no mark of the draft");
  if (owner === null) {
    throw new BridgeError(
      "unsupported",
      "this server does not know whose tasks are whose, so that nobody can choose IDs",
    );
  }
  const leave = context.waits.take(owner);
  const cancelling = new AbortController();
  const kept = session.draft.keep(request.id, () => cancelling.abort("the client asked for it"));
  const signals = firstOf([call.signal, cancelling.signal]);
  const lifetime = followCall({ ...call, signal: signals.signal }, context.stopping);
  const draft: DraftCall = { context, tool, request, call, task, lifetime };
  let isTask = false;
  try {
    const begun = await begin(draft);
    if ("answer" in begun) return begun.answer;
    isTask = true;
    return await inDraftWords(awaitEnd(draft, begun.view));
  } finally {
    if (isTask) kept.forget();
    else kept.undo();
    lifetime.settle();
    signals.release();
    leave();
  }
};

/** Makes the task, or answers at once where there is none to make. */
const begin = async (draft: DraftCall): Promise<{ readonly view: TaskView } | { readonly answer: Result }> => {
  const { context, tool, request, call, task, lifetime } = draft;
  if (tool.prepare !== undefined) await requireUnused(draft);
  const prepared = await call.prepare(tool, request.params.arguments);
  if ("answer" in prepared) return prepared;
  if (lifetime.gone.aborted) throw givenUp();
  try {
    // A cancellation must find its task, whose ID the client knows already: so no signal takes this back.
    const view = await context.engine.createTask({
      ...task,
      tool: tool.name,
      input: prepared.input,
      owner: request.owner,
    });
    return { view };
  } catch (error) {
    // There is no task then, and the answer is what it would be without the mark.
    if (isBridgeError(error) && isToolError(error) && !isUsedId(error)) return { answer: toErrorAnswer(error) };
    throw error;
  }
};

const toErrorAnswer = ({ message }: BridgeError): Result => ({ ...toErrorResult(message) });

const isUsedId = ({ code, data }: BridgeError): boolean => code === "conflict" && data?.taskId !== undefined;

/** Nobody is asked anything for a call that cannot become a task any more. */
const requireUnused = async ({ context, request, task: { taskId } }: DraftCall): Promise<void> => {
  try {
    await context.engine.readTask(taskId, toAccess(request.owner));
  } catch (error) {
    if (!isBridgeError(error) || error.code !== "not_found") throw error;
    if (error.data?.expired !== true) return;
  }
  throw new BridgeError("conflict", `Task ID already exists: ${taskId}`, { data: { taskId } });
};

/** The end of the task on the stream of its call, which is also where it asks. */
const awaitEnd = async (draft: DraftCall, view: TaskView): Promise<Result> => {
  const { context, request, task, lifetime } = draft;
  const { session, owner } = request;
  const channel: Channel = { ...session.channelOf(request.id), isDraft: true };
  tell(draft, toCreatedNotification(task.taskId));
  const report = toReporter(draft, channel);
  const over = firstOf([lifetime.over, channel.closed]);
  const close = session.channels.openFor(task.taskId, channel);
  try {
    const latest = await followToEnd(context, owner, {
      view,
      over: over.signal,
      hear: (heard) => session.watch.hear(heard, owner),
      ...(report === undefined ? {} : { report }),
    });
    if (!hasEnded(latest)) return await leaveTask(draft);
    const outcome = toCallAnswer(latest, { expectation: context.catalog.expectation(latest.record.tool) });
    if ("error" in outcome) throw toFault(outcome.error);
    return { ...outcome.result, _meta: { ...outcome.result._meta } };
  } finally {
    over.release();
    close();
  }
};

/**
 * The wait ends without an answer. Only a cancellation that somebody has asked for ends the task as well; the client may
 * still send one after its stream is lost, or after the timeout of its own SDK.
 */
const leaveTask = async ({ context, request, task, lifetime }: DraftCall): Promise<never> => {
  const cancel = async (): Promise<void> => {
    await context.engine.cancelTask(task.taskId, toAccess(request.owner), {
      reason: "the client asked for it",
      latch: true,
    });
  };
  if (lifetime.gone.aborted) {
    await cancel();
    throw givenUp();
  }
  // It takes the place of what this call has kept, and stays when that is forgotten.
  request.session.draft.keep(request.id, () => {
    cancel().catch((error: unknown) => {
      if (isBridgeError(error) && error.code === "not_found") return;
      context.log.warn({ err: error, taskId: task.taskId }, "a task could not be cancelled");
    });
  });
  // A client that waits while the server is stopped is to poll: its stream is closed without an answer.
  if (context.stopping.aborted && !request.signal.aborted) return new Promise<never>(() => {});
  throw givenUp();
};

const givenUp = (): ProtocolError => new ProtocolError(-32_603, "The call was given up");

const tell = (
  { context, call }: DraftCall,
  { method, params }: { readonly method: string; readonly params: Readonly<Record<string, unknown>> },
): void => {
  call.notify(method, params).catch((error: unknown) => {
    context.log.debug({ err: error }, "a client could not be told about its task");
  });
};

const toReporter = (draft: DraftCall, channel: Channel): ((record: TaskRecord) => void) | undefined => {
  const token = draft.call.progressToken;
  if (token === undefined) return undefined;
  let last = 0;
  return (record) => {
    // What a slow client has not read yet is not added to.
    if (!channel.isReady()) return;
    const params = toProgress(record, token, last);
    last = params.progress;
    tell(draft, { method: progressMethod, params: { ...params, _meta: relatedTask(draft.task.taskId) } });
  };
};
