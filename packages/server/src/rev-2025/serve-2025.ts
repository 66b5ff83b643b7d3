import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { invalidParamsCode, methodNotFoundCode } from "@taskbridge/protocol";
import { readProgressToken } from "@taskbridge/protocol/no-tasks";
import { parseTaskParams, taskSupportFault } from "@taskbridge/protocol/tasks-2025-11-25";
import { isRequestTimeout } from "../mcp/call-lifetime.ts";
import { callPipeline } from "../mcp/call-pipeline.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import { listResources, listResourceTemplates, readResult } from "../mcp/result-resource.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";
import { toProtocolError } from "../mcp/to-protocol-error.ts";
import { trackCall } from "../mcp/track-call.ts";
import { unknownTool } from "../mcp/unknown-tool.ts";
import { findTool, listTools } from "../mcp/visible-tools.ts";
import { callCompanion } from "../no-tasks/call-companion.ts";
import { toOrigin } from "../session/call-origin.ts";
import { chooseTaskWire, noteTaskWire, servesTasks } from "../session/choose-task-wire.ts";
import type { Request2025 } from "../session/request-2025.ts";
import type { TaskWire } from "../session/session-2025.ts";
import { becomesSep1686Task } from "../tasks-sep1686/becomes-sep1686-task.ts";
import { callAsSep1686Task } from "../tasks-sep1686/call-as-sep1686-task.ts";
import {
  deleteSep1686Task,
  getSep1686Task,
  getSep1686TaskResult,
  listSep1686Tasks,
} from "../tasks-sep1686/sep1686-task-requests.ts";
import { askBefore } from "./ask-before.ts";
import { askDuringCall } from "./ask-during-call.ts";
import { callPlain } from "./call-plain.ts";
import { callAsTask, cancelTask, getTask, getTaskResult, listTasks } from "./task-requests.ts";

/** Answers one request of a client of a 2025 revision. Rejects with a `ProtocolError`. */
export const serve2025 = async (context: ServeContext, request: Request2025): Promise<Result> => {
  noteTaskWire(context, request);
  if (!becomesSep1686Task(context, request)) request.session.draft.drop(request.id);
  const answer = dispatch(context, request);
  // A stop waits for calls to be answered; who waits for the end of a task is told to come back.
  if (!waitsForUpdates(context, request)) return trackCall(context, answer);
  try {
    return await answer;
  } catch (error) {
    throw toProtocolError(error, context.log);
  }
};

/** Whether a request is answered by the end of a task, however far off. */
export const waitsForUpdates = (
  context: Pick<ServeContext, "wires" | "catalog">,
  request: { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> },
): boolean => request.method === "tasks/result" || becomesSep1686Task(context, request);

const dispatch = async (context: ServeContext, request: Request2025): Promise<Result> => {
  switch (request.method) {
    case "tools/list":
      return { tools: [...listTools(context, toCaller(request), { support: servesTasks(context, request.session) })] };
    case "tools/call":
      return callTool(context, request);
    case "resources/list":
      return listResources();
    case "resources/templates/list":
      return listResourceTemplates();
    case "resources/read":
      return readResource(context, request);
    default:
      return taskMethod(context, request);
  }
};

type TaskMethods = Readonly<Record<string, (context: ServeContext, request: Request2025) => Promise<Result>>>;

const ownTaskMethods: TaskMethods = {
  "tasks/get": getTask,
  "tasks/result": getTaskResult,
  "tasks/list": listTasks,
  "tasks/cancel": cancelTask,
};

const sep1686TaskMethods: TaskMethods = {
  "tasks/get": getSep1686Task,
  "tasks/result": getSep1686TaskResult,
  "tasks/list": listSep1686Tasks,
  "tasks/delete": deleteSep1686Task,
};

const taskMethods: Readonly<Record<TaskWire, TaskMethods>> = {
  "2025-11-25": ownTaskMethods,
  "sep-1686": sep1686TaskMethods,
};

const taskMethod = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const { method } = request;
  const isKnown = Object.values(taskMethods).some((methods) => Object.hasOwn(methods, method));
  const taskWire = isKnown ? await chooseTaskWire(context, request) : undefined;
  const methods = taskWire === undefined ? {} : taskMethods[taskWire];
  const serve = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (serve === undefined) throw new ProtocolError(methodNotFoundCode, "Method not found");
  return serve(context, request);
};

const readResource = async (context: ServeContext, { params, owner, transport }: Request2025): Promise<Result> => {
  if (typeof params.uri !== "string")
    throw new ProtocolError(invalidParamsCode, "uri: text is needed", { path: "uri" });
  return readResult(context, { era: "legacy", transport, owner }, params.uri);
};

const callTool = async (context: ServeContext, request: Request2025): Promise<Result> => {
  const { params, session } = request;
  const { name } = params;
  if (typeof name !== "string") throw new ProtocolError(invalidParamsCode, "name: text is needed", { path: "name" });
  const caller = toCaller(request);
  const found = findTool(context, caller, name);
  if (found?.kind === "pipeline" && becomesSep1686Task(context, request)) {
    return callAsSep1686Task(context, found.tool, request, toCallRequest(context, request));
  }
  const task = servesTasks(context, session) ? parseTaskParams(params) : undefined;
  if (found === undefined) throw unknownTool(name);
  const support = found.kind === "pipeline" ? found.tool.task.support : "forbidden";
  const fault = servesTasks(context, session) ? taskSupportFault(name, support, task !== undefined) : undefined;
  if (fault !== undefined) throw new ProtocolError(fault.code, fault.message);
  if (found.kind === "plain") return callPlain(request, found);
  const call = toCallRequest(context, request);
  if (found.kind === "companion") return callCompanion(context, caller, found, params.arguments, call);
  return task === undefined
    ? callPipeline(context, caller, found.tool, params.arguments, call)
    : callAsTask(context, caller, found.tool, { request, call, task });
};

const toCaller = ({ owner, transport, session }: Request2025): Caller => {
  const { form, url } = session.capabilities();
  return { era: "legacy", transport, owner, capabilities: { tasks: false, form, url } };
};

/** A connection that is lost takes no call back, nor does a client's own timeout; only a cancellation does. */
const toCallRequest = (context: ServeContext, request: Request2025): CallRequest => {
  const { session, params, signal, id } = request;
  return {
    signal,
    isWithdrawn: (reason) => !session.closed.aborted && !isRequestTimeout(reason),
    progressToken: readProgressToken(params._meta),
    notify: (method, params) => session.link.notify(method, params, id),
    ...(session.name === undefined ? {} : { origin: toOrigin(session.name, id) }),
    prepare: (tool, args) => askBefore(context, request, tool, args),
    questions: { beside: askDuringCall(context, request) },
  };
};
