import type { Result } from "@modelcontextprotocol/server";
import { type CreatedTask, isBridgeError, type ResolvedTool, type TaskView } from "@taskbridge/core";
import { isToolError, toErrorResult, toToolResult } from "@taskbridge/protocol";
import { toCreateResult } from "@taskbridge/protocol/tasks-2026-07-28";
import { toAccess } from "../caller.ts";
import { answerUnended } from "./answer-unended.ts";
import { followCall } from "./call-lifetime.ts";
import type { Resumed } from "./call-questions.ts";
import type { CallRequest } from "./call-request.ts";
import { hasCompanions } from "./companions-policy.ts";
import { createTask, stopIfGone } from "./create-task.ts";
import type { Caller, ServeContext } from "./serve-context.ts";
import { missingTasksExtension } from "./to-protocol-error.ts";
import { toReporter } from "./to-reporter.ts";
import { hasEnded, waitForAnswer } from "./wait-for-answer.ts";
import { type WaitingCall, waitForTask } from "./wait-for-task.ts";

/** How a call is answered: with a task; with a result, or a handle once the caller has waited long enough; or only with a result. */
type AnswerMode = "task" | "wait" | "result";

interface PipelineCall extends WaitingCall {
  readonly tool: ResolvedTool;
  readonly mode: AnswerMode;
}

/** Answers `tools/call` for a pipeline. */
export const callPipeline = async (
  context: ServeContext,
  caller: Caller,
  tool: ResolvedTool,
  args: unknown,
  request: CallRequest,
): Promise<Result> => {
  const mode = chooseMode(context, caller, tool);
  const lifetime = followCall(request, context.stopping);
  const call: PipelineCall = { context, caller, tool, request, lifetime, mode };
  try {
    const resumed = await request.questions.asAnswer?.resume();
    if (resumed !== undefined) return "answer" in resumed ? resumed.answer : await answer(call, resumed);
    const prepared = await request.prepare(tool, args);
    if ("answer" in prepared) return prepared.answer;
    const { origin } = request;
    const created = await createTask(call, { input: prepared.input, ...(origin === undefined ? {} : { origin }) });
    return await answer(call, { view: created, settled: new Set() }, created);
  } catch (error) {
    // Input that a model can correct is the answer of the tool, not a fault of the protocol.
    if (isBridgeError(error) && isToolError(error)) return { ...toErrorResult(error.message) };
    throw error;
  } finally {
    lifetime.settle();
  }
};

const chooseMode = ({ wires }: ServeContext, { era, capabilities }: Caller, tool: ResolvedTool): AnswerMode => {
  const mayHaveTask = era === "modern" && wires.has("2026-07-28") && capabilities.tasks;
  if (mayHaveTask) return tool.task.support === "forbidden" ? "result" : "task";
  // Hosts of earlier revisions cannot declare the extension, so refusing them would only break them.
  if (era === "modern" && (tool.task.support === "required" || !wires.has("none"))) throw missingTasksExtension();
  return tool.task.support === "forbidden" ? "result" : "wait";
};

const answer = async (
  call: PipelineCall,
  { view, settled }: Resumed,
  { isDeduplicated }: Pick<CreatedTask, "isDeduplicated"> = { isDeduplicated: false },
): Promise<Result> => {
  const { mode, tool } = call;
  if (mode === "task") {
    await stopIfGone(call, view);
    return answersAtOnce(tool, view) ? toResult(call, view) : { ...toCreateResult(view) };
  }
  const latest =
    mode === "wait"
      ? await waitForTask(call, { view, waitMs: call.context.waitMs, known: settled })
      : await waitForEnd(call, view);
  if (hasEnded(latest)) return toResult(call, latest);
  await stopIfGone(call, latest);
  if (mode === "result") return stopUnanswerable(call, latest);
  return answerUnended(call, latest, { isDeduplicated });
};

const waitForEnd = ({ context, caller, lifetime, request }: PipelineCall, view: TaskView): Promise<TaskView> => {
  const report = toReporter({ context, request });
  return waitForAnswer(context, caller, {
    view,
    waitMs: Number.POSITIVE_INFINITY,
    over: lifetime.over,
    ...(report === undefined ? {} : { report }),
  });
};

/** A job that is done already needs no task, unless the tool says that its callers always get one. */
const answersAtOnce = (tool: ResolvedTool, { record }: TaskView): boolean =>
  tool.task.support === "optional" &&
  (record.state === "succeeded" || (record.state === "failed" && record.failure?.kind === "job"));

const toResult = ({ context, caller, mode }: PipelineCall, view: TaskView): Result => {
  const readOn = mode !== "task" && hasCompanions(context, caller) ? "task_result" : "resources/read";
  return { ...toToolResult(view, context.catalog.expectation(view.record.tool), readOn) };
};

/** A tool that gives no tasks has nothing to hand out: it stops a job that nobody could answer. */
const stopUnanswerable = async ({ context, caller, tool }: PipelineCall, view: TaskView): Promise<Result> => {
  if (view.record.state !== "waiting") {
    return {
      ...toErrorResult(`The server is being stopped. ${tool.name} goes on, but its result cannot be given here.`),
    };
  }
  const reason = `${tool.name} asks a question, but takes no answers because it is never a task`;
  await context.engine.cancelTask(view.record.taskId, toAccess(caller.owner), { reason, isFinal: false });
  return { ...toErrorResult(`${reason}. It was stopped.`) };
};
