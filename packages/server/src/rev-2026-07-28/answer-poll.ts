import {
  CLIENT_CAPABILITIES_META_KEY,
  classifyInboundRequest,
  isJsonContentType,
  type ProtocolError,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { type CallerCapabilities, protocolVersion, readCapabilities } from "@taskbridge/protocol/tasks-2026-07-28";
import type { Owner } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { trackCall } from "../mcp/track-call.ts";
import { getTask } from "./task-methods.ts";

/** Values of headers by their lower-case names. */
export type PollHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Whether a request says of itself that it is a poll: the body of no other needs to be looked into. */
export const claimsPoll = ({ wires }: Pick<ServeContext, "wires">, headers: PollHeaders): boolean =>
  headers["mcp-method"] === method &&
  headers["mcp-protocol-version"] === protocolVersion &&
  typeof headers["content-type"] === "string" &&
  isJsonContentType(headers["content-type"]) &&
  wires.has("2026-07-28");

/**
 * The body of the answer to a `tasks/get` of 2026-07-28, the one request that clients repeat without end: without a server of
 * the SDK made for it, and otherwise what that would answer. Undefined: something about the request is not as clients send it; the SDK is to
 * judge it, which knows all there is to refuse.
 */
export const answerPoll = async (
  context: ServeContext,
  owner: Owner,
  headers: PollHeaders,
  text: string,
): Promise<string | undefined> => {
  const poll = parsePoll(headers, text);
  if (poll === undefined || !poll.capabilities.tasks) return undefined;
  const { id, taskId, capabilities } = poll;
  const caller = { era: "modern", transport: "http", owner, capabilities } as const;
  try {
    const task = await trackCall(context, getTask(context, caller, { taskId }));
    const result = { ...task, _meta: { [SERVER_INFO_META_KEY]: context.identity } };
    return JSON.stringify({ result, jsonrpc: "2.0", id });
  } catch (error) {
    // Tracked calls reject with nothing else.
    const { code, message, data } = error as ProtocolError;
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }
};

const method = "tasks/get";

interface Poll {
  readonly id: string | number;
  readonly taskId: string;
  readonly capabilities: CallerCapabilities;
}

const parsePoll = (headers: PollHeaders, text: string): Poll | undefined => {
  const body = parseJson(text);
  const route = classifyInboundRequest({
    httpMethod: "POST",
    protocolVersionHeader: protocolVersion,
    mcpMethodHeader: method,
    body,
  });
  if (route.kind !== "modern" || route.messageKind !== "request") return undefined;
  if (route.classification.revision !== protocolVersion) return undefined;
  const { id, params } = route.message;
  const { taskId, _meta: envelope, ...others } = (params ?? {}) as Readonly<Record<string, unknown>>;
  // A name that had to be encoded, and parameters that the SDK may give a meaning.
  if (typeof taskId !== "string" || headers["mcp-name"] !== taskId || Object.keys(others).length > 0) return undefined;
  const declared = (envelope as Readonly<Record<string, unknown>>)[CLIENT_CAPABILITIES_META_KEY];
  return { id, taskId, capabilities: readCapabilities(declared) };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
