import type { Result, ServerContext } from "@modelcontextprotocol/server";
import { callPipeline } from "../mcp/call-pipeline.ts";
import { callPlainTool, toPlainContext } from "../mcp/call-plain-tool.ts";
import type { Caller, Connection, ServeContext } from "../mcp/serve-context.ts";
import { missingTasksExtension } from "../mcp/to-protocol-error.ts";
import type { CatalogTool } from "../mcp/tool-catalog.ts";
import { trackCall } from "../mcp/track-call.ts";
import { callCompanion } from "../no-tasks/call-companion.ts";
import { toCaller, toCallRequest } from "./request-2026.ts";
import { cancelTask, getTask, type TaskMethodParams, updateTask } from "./task-methods.ts";

/** Answers a `tools/call` of 2026-07-28. */
export const callTool2026 = (
  context: ServeContext,
  connection: Connection,
  found: CatalogTool,
  args: unknown,
  request: ServerContext,
): Promise<Result> => {
  const caller = toCaller(connection, request);
  if (found.kind === "plain") {
    return trackCall(context, callPlainTool(found, args, toPlainContext(context, caller, request)));
  }
  const call = toCallRequest(context, caller, request, { tool: found.tool.name, args });
  const answer =
    found.kind === "companion"
      ? callCompanion(context, caller, found, args, call)
      : callPipeline(context, caller, found.tool, args, call);
  return trackCall(context, answer);
};

export const taskMethods2026 = ["tasks/get", "tasks/update", "tasks/cancel"] as const;

export type TaskMethod2026 = (typeof taskMethods2026)[number];

type Method = (
  context: ServeContext,
  caller: Caller,
  params: TaskMethodParams,
  request: ServerContext,
) => Promise<Result>;

const methods: Readonly<Record<TaskMethod2026, Method>> = {
  "tasks/get": getTask,
  "tasks/update": updateTask,
  "tasks/cancel": cancelTask,
};

/** Answers a method of the tasks extension. The capability is asked for before the parameters are looked at. */
export const serveTask2026 = async (
  context: ServeContext,
  connection: Connection,
  method: TaskMethod2026,
  params: TaskMethodParams,
  request: ServerContext,
): Promise<Result> => {
  const caller = toCaller(connection, request);
  if (!caller.capabilities.tasks) throw missingTasksExtension();
  return trackCall(context, methods[method](context, caller, params, request));
};
