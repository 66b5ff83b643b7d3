import type { Result } from "@modelcontextprotocol/server";
import { type GivenAnswer, isBridgeError, type JsonValue, openQuestions, type TaskView } from "@taskbridge/core";
import { isToolError, toErrorResult, toToolResult } from "@taskbridge/protocol";
import {
  beyondTheEnd,
  type CompanionName,
  isForModel,
  pageToFetch,
  toCancelResult,
  toEndedResult,
  toPageResult,
  toResultPage,
} from "@taskbridge/protocol/no-tasks";
import { toAccess } from "../caller.ts";
import { advisedSeconds, answerUnended, giveHandle } from "../mcp/answer-unended.ts";
import { followCall } from "../mcp/call-lifetime.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";
import type { CatalogTool } from "../mcp/tool-catalog.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";
import { type WaitingCall, waitForTask } from "../mcp/wait-for-task.ts";
import { answerUnknown } from "./answer-unknown.ts";

/** What fits the input schemas of the companions. */
interface CompanionInput {
  readonly taskId: string;
  readonly waitSeconds?: number;
  readonly offset?: number;
  readonly length?: number;
  readonly key?: string;
  readonly action?: GivenAnswer["action"];
  readonly content?: JsonValue;
}

type Companion = (call: WaitingCall, input: CompanionInput) => Promise<Result>;

/** Answers `tools/call` for a companion. Nothing that a caller does to such a call touches the task. */
export const callCompanion = async (
  context: ServeContext,
  caller: Caller,
  { tool, checkInput }: Extract<CatalogTool, { kind: "companion" }>,
  args: unknown,
  request: CallRequest,
): Promise<Result> => {
  const fault = checkInput(args ?? {});
  if (fault !== undefined) return { ...toErrorResult(`arguments: ${fault}`) };
  const input = args as CompanionInput;
  const lifetime = followCall(request, context.stopping);
  try {
    return await companions[tool.name]({ context, caller, request, lifetime }, input);
  } catch (error) {
    if (!isBridgeError(error)) throw error;
    if (error.code === "not_found") return await answerUnknown(context, caller, input.taskId, error);
    if (isToolError(error)) return { ...toErrorResult(error.message) };
    throw error;
  } finally {
    lifetime.settle();
  }
};

const status: Companion = async (call, { taskId, waitSeconds = 0 }) => {
  const { context, caller, request } = call;
  const resumed = await request.questions.asAnswer?.resume();
  if (resumed !== undefined && "answer" in resumed) return resumed.answer;
  let view = resumed?.view ?? (await context.engine.readTask(taskId, toAccess(caller.owner)));
  if (!hasEnded(view)) {
    const leave = waitSeconds > 0 ? context.waits.acquire(caller.owner) : undefined;
    try {
      const knownQuestions = context.pollMemory.known(view.record.taskId, caller.owner);
      const known = new Set([...knownQuestions, ...(resumed?.settled ?? [])]);
      view = await waitForTask(call, { view, waitMs: waitSeconds * 1000, known });
    } finally {
      leave?.();
    }
  }
  return hasEnded(view) ? toEnded(call, view) : answerUnended(call, view);
};

const result: Companion = async (call, { taskId, offset, length }) => {
  const { engine } = call.context;
  const access = toAccess(call.caller.owner);
  const view = await engine.readTask(taskId, access);
  if (!hasEnded(view)) return giveHandle(call, view);
  const { output } = view.record;
  if (output === undefined) return toEnded(call, view);
  // A part of JSON cannot be read as JSON, so what fits into one answer comes whole.
  const isWhole = output.mediaType === "application/json" && view.output?.length === output.bytes;
  if (isWhole && offset === undefined && length === undefined) return { ...toToolResult(view) };
  const page = toResultPage(taskId, {
    ...(offset === undefined ? {} : { offset }),
    ...(length === undefined ? {} : { length }),
  });
  if (page.offset > output.bytes) throw beyondTheEnd(page.offset, output.bytes);
  const part = await engine.readOutput(taskId, access, pageToFetch(page));
  return { ...toPageResult(page, part.bytes, part.totalBytes) };
};

/** What stops at once is told as stopped (milliseconds). */
const stopMs = 2_000;

const cancel: Companion = async ({ context, caller, lifetime }, { taskId }) => {
  const { engine } = context;
  const access = toAccess(caller.owner);
  const before = await engine.readTask(taskId, access);
  const hadEnded = hasEnded(before);
  let view = before;
  if (!hadEnded) {
    await engine.cancelTask(taskId, access, { reason: "the caller asked for it", isFinal: false });
    view = await engine.waitForTask(taskId, access, { until: "ended", timeoutMs: stopMs, signal: lifetime.over });
  }
  return { ...toCancelResult(view, { hadEnded, waitSeconds: advisedSeconds(context) }) };
};

/** Listed only where models may answer. Secrets and pages to visit are a person's even there. */
const answer: Companion = async (call, { taskId, key, action = "cancel", content }) => {
  const { engine } = call.context;
  const access = toAccess(call.caller.owner);
  const view = await engine.readTask(taskId, access);
  if (hasEnded(view)) return toEnded(call, view);
  const open = openQuestions(view.record.questions).filter(isForModel);
  const question = key === undefined && open.length === 1 ? open[0] : open.find((asked) => asked.key === key);
  if (question === undefined) {
    const keys = open.map((asked) => asked.key).join(", ");
    const hint = open.length === 0 ? "Nothing that can be answered here is asked." : `Open questions: ${keys}.`;
    return {
      ...toErrorResult(`key: ${key === undefined ? "which question is needed" : "no such open question"}. ${hint}`),
    };
  }
  const given: GivenAnswer = action === "accept" && content !== undefined ? { action, content } : { action };
  await engine.answerTask(taskId, access, { [question.key]: given });
  const after = await engine.readTask(taskId, access);
  return hasEnded(after) ? toEnded(call, after) : giveHandle(call, after);
};

const toEnded = ({ context }: WaitingCall, view: TaskView): Result => ({
  ...toEndedResult(view, context.catalog.expectation(view.record.tool)),
});

const companions: Readonly<Record<CompanionName, Companion>> = {
  task_status: status,
  task_result: result,
  task_cancel: cancel,
  task_answer: answer,
};
