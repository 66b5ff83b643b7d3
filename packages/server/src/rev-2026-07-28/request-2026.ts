import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from "@modelcontextprotocol/server";
import { readProgressToken } from "@taskbridge/protocol/no-tasks";
import { readCapabilities } from "@taskbridge/protocol/tasks-2026-07-28";
import { isCallWithdrawn2026 } from "../mcp/call-lifetime.ts";
import type { RepeatedCall } from "../mcp/call-questions.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import type { Caller, Connection, ServeContext } from "../mcp/serve-context.ts";
import { askAsAnswer } from "../no-tasks/ask-as-answer.ts";
import { prepareCall } from "./prepare-call.ts";

/** Who sent a request of 2026-07-28: each one declares for itself what its sender can do. */
export const toCaller = (connection: Connection, { mcpReq }: ServerContext): Caller => {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return { ...connection, capabilities: readCapabilities(envelope?.[CLIENT_CAPABILITIES_META_KEY]) };
};

export const toCallRequest = (
  context: ServeContext,
  caller: Caller,
  request: ServerContext,
  call: RepeatedCall,
): CallRequest => ({
  signal: request.mcpReq.signal,
  isWithdrawn: (reason) => isCallWithdrawn2026(reason, caller),
  progressToken: readProgressToken(request.mcpReq._meta),
  notify: (method, params) => request.mcpReq.notify({ method, params: { ...params } }),
  prepare: (tool, args) => prepareCall(context, tool, args, request),
  questions: { asAnswer: askAsAnswer(context, caller, request, call) },
});
