import { MissingRequiredClientCapabilityError, ProtocolError, type Result } from "@modelcontextprotocol/server";
import { serveLegacy, servesTasks } from "../legacy/serve-legacy.ts";
import { toCaller } from "../mcp/modern-request.ts";
import { callModernTool } from "../mcp/serve-modern.ts";
import type { AttachedRequest } from "./attached-request.ts";
import { type Attachment, readAttached, toLegacyRequest } from "./attachment.ts";
import type { SdkHandler, SdkRequest } from "./sdk-server.ts";

/** The host's tools with ours behind them. What is not ours goes to the host as it came. */
export const wrapTools = (attachment: Attachment): ReadonlyMap<string, SdkHandler> => {
  const { serve, parts } = attachment;
  const { server, mcp } = parts;
  const hostList = server._requestHandlers.get("tools/list");
  const hostCall = server._requestHandlers.get("tools/call");

  const listHost: SdkHandler = async (request, extra) => (await hostList?.(request, extra)) ?? { tools: [] };
  const list: SdkHandler = async (request, extra) => {
    const listed = await listHost(request, extra);
    if (listed.nextCursor !== undefined) return listed;
    const attached = readAttached(attachment, extra);
    const withSupport =
      attached.era === "legacy" && servesTasks(serve, toLegacyRequest(attachment, request, attached).session);
    const ours = withSupport ? serve.catalog.listedWithSupport : serve.catalog.listed;
    const theirs = (listed.tools as readonly { readonly name: string }[]).filter(
      ({ name }) => serve.catalog.find(name) === undefined,
    );
    return { ...listed, tools: [...theirs, ...ours] };
  };
  const call: SdkHandler = async (request, extra) => {
    const attached = readAttached(attachment, extra);
    const name = request.params?.name;
    const found = typeof name === "string" ? serve.catalog.find(name) : undefined;
    if (found !== undefined) return callOurs(attachment, request, attached);
    if (hostCall === undefined) throw new ProtocolError(-32_602, `Unknown tool: ${String(name)}`);
    return hostCall(await withoutForeignTask(attachment, listHost, request, attached, extra), extra);
  };
  if (mcp !== undefined && typeof mcp.toolInputSchemaJson === "function") {
    const theirs = mcp.toolInputSchemaJson.bind(mcp);
    mcp.toolInputSchemaJson = (name) => serve.catalog.inputSchema(name) ?? theirs(name);
  }
  return new Map([
    ["tools/list", list],
    ["tools/call", call],
  ]);
};

const callOurs = async (attachment: Attachment, request: SdkRequest, attached: AttachedRequest): Promise<Result> => {
  const { serve, session } = attachment;
  if (attached.era === "legacy" || attached.context === undefined) {
    try {
      return await serveLegacy(serve, toLegacyRequest(attachment, request, attached));
    } finally {
      session.settle(attached.id);
    }
  }
  const found = serve.catalog.find(String(request.params?.name));
  if (found === undefined) throw new ProtocolError(-32_602, `Unknown tool: ${String(request.params?.name)}`);
  const result = await callModernTool(serve, attached, found, request.params?.arguments, attached.context);
  requireAskable(result, attached);
  return result;
};

/** The SDK would see to this, had it called our handler itself. */
const requireAskable = (result: Result & { readonly inputRequests?: unknown }, attached: AttachedRequest): void => {
  if (result.resultType !== "input_required" || attached.context === undefined) return;
  if (toCaller(attached, attached.context).capabilities.form) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { elicitation: {} } });
};

/**
 * Declaring tasks lets calls with a `task` through to tools that know nothing of it: the host's own are refused as the
 * specification wants, unless the host says that they take one. Earlier revisions know no `task`, and it is left out.
 */
const withoutForeignTask = async (
  attachment: Attachment,
  listHost: SdkHandler,
  request: SdkRequest,
  attached: AttachedRequest,
  extra: unknown,
): Promise<SdkRequest> => {
  if (request.params?.task === undefined || attached.era === "modern") return request;
  const { session } = toLegacyRequest(attachment, request, attached);
  if (!servesTasks(attachment.serve, session)) {
    const { task: _task, ...params } = request.params;
    return { ...request, params };
  }
  const { tools } = await listHost({ method: "tools/list", params: {} }, extra);
  const tool = (
    tools as readonly { readonly name: string; readonly execution?: { readonly taskSupport?: string } }[]
  ).find(({ name }) => name === request.params?.name);
  const support = tool?.execution?.taskSupport ?? "forbidden";
  if (tool === undefined || support !== "forbidden") return request;
  throw new ProtocolError(-32_601, `${tool.name} cannot be called as a task`);
};
