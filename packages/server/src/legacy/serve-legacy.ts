import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { invalidParamsCode, methodNotFoundCode } from "@taskbridge/protocol";
import { parseTaskParams, taskSupportFault } from "@taskbridge/protocol/rev-2025-11-25";
import { readProgressToken } from "@taskbridge/protocol/untasked";
import { becomesDraftTask } from "../draft/becomes-draft-task.ts";
import { callAsDraftTask } from "../draft/call-as-draft-task.ts";
import { deleteDraftTask, getDraftTask, getDraftTaskResult, listDraftTasks } from "../draft/draft-task-requests.ts";
import { isRequestTimeout } from "../mcp/call-lifetime.ts";
import { callPipeline } from "../mcp/call-pipeline.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import { listResources, listResourceTemplates, readResult } from "../mcp/result-resource.ts";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";
import { toProtocolError } from "../mcp/to-protocol-error.ts";
import { trackCall } from "../mcp/track-call.ts";
import { unknownTool } from "../mcp/unknown-tool.ts";
import { findTool, listTools } from "../mcp/visible-tools.ts";
import { toOrigin } from "../session/call-origin.ts";
import { chooseGeneration, noteGeneration, servesTasks } from "../session/choose-generation.ts";
import type { LegacyRequest } from "../session/legacy-request.ts";
import type { TaskGeneration } from "../session/legacy-session.ts";
import { callCompanion } from "../untasked/call-companion.ts";
import { askBefore } from "./ask-before.ts";
import { askBeside } from "./ask-beside.ts";
import { callPlain } from "./call-plain.ts";
import { callAsTask, cancelTask, getTask, getTaskResult, listTasks } from "./task-requests.ts";

/** Answers one request of a client of a 2025 revision. Rejects with a `ProtocolError`. */
export const serveLegacy = async (context: ServeContext, request: LegacyRequest): Promise<Result> => {
  noteGeneration(context, request);
  if (!becomesDraftTask(context, request)) request.session.draft.drop(request.id);
  const answer = dispatch(context, request);
  // A stop waits for calls to be answered; who waits for the end of a task is told to come back.
  if (!waitsForNews(context, request)) return trackCall(context, answer);
  try {
    return await answer;
  } catch (error) {
    throw toProtocolError(error, context.log);
  }
};

/** Whether a request is answered by the end of a task, however far off. */
export const waitsForNews = (
  context: Pick<ServeContext, "wires" | "catalog">,
  request: { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> },
): boolean => request.method === "tasks/result" || becomesDraftTask(context, request);

const dispatch = async (context: ServeContext, request: LegacyRequest): Promise<Result> => {
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

type TaskMethods = Readonly<Record<string, (context: ServeContext, request: LegacyRequest) => Promise<Result>>>;

const ownTaskMethods: TaskMethods = {
  "tasks/get": getTask,
  "tasks/result": getTaskResult,
  "tasks/list": listTasks,
  "tasks/cancel": cancelTask,
};

const draftTaskMethods: TaskMethods = {
  "tasks/get": getDraftTask,
  "tasks/result": getDraftTaskResult,
  "tasks/list": listDraftTasks,
  "tasks/delete": deleteDraftTask,
};

const taskMethods: Readonly<Record<TaskGeneration, TaskMethods>> = {
  "2025-11-25": ownTaskMethods,
  "sep-1686": draftTaskMethods,
};

const taskMethod = async (context: ServeContext, request: LegacyRequest): Promise<Result> => {
  const { method } = request;
  const isKnown = Object.values(taskMethods).some((methods) => Object.hasOwn(methods, method));
  const generation = isKnown ? await chooseGeneration(context, request) : undefined;
  const methods = generation === undefined ? {} : taskMethods[generation];
  const serve = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (serve === undefined) throw new ProtocolError(methodNotFoundCode, "Method not found");
  return serve(context, request);
};

const readResource = async (context: ServeContext, { params, owner, transport }: LegacyRequest): Promise<Result> => {
  if (typeof params.uri !== "string")
    throw new ProtocolError(invalidParamsCode, "uri: text is needed", { path: "uri" });
  return readResult(context, { era: "legacy", transport, owner }, params.uri);
};

const callTool = async (context: ServeContext, request: LegacyRequest): Promise<Result> => {
  const { params, session } = request;
  const { name } = params;
  if (typeof name !== "string") throw new ProtocolError(invalidParamsCode, "name: text is needed", { path: "name" });
  const caller = toCaller(request);
  const found = findTool(context, caller, name);
  if (found?.kind === "pipeline" && becomesDraftTask(context, request)) {
    return callAsDraftTask(context, found.tool, request, toCallRequest(context, request));
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

const toCaller = ({ owner, transport, session }: LegacyRequest): Caller => {
  const { form, url } = session.capabilities();
  return { era: "legacy", transport, owner, capabilities: { tasks: false, form, url } };
};

/** A connection that is lost takes no call back, nor does a client's own timeout; only a cancellation does. */
const toCallRequest = (context: ServeContext, request: LegacyRequest): CallRequest => {
  const { session, params, signal, id } = request;
  return {
    signal,
    isTakenBack: (reason) => !session.closed.aborted && !isRequestTimeout(reason),
    progressToken: readProgressToken(params._meta),
    notify: (method, told) => session.link.notify(method, told, id),
    ...(session.name === undefined ? {} : { origin: toOrigin(session.name, id) }),
    prepare: (tool, args) => askBefore(context, request, tool, args),
    questions: { beside: askBeside(context, request) },
  };
};
