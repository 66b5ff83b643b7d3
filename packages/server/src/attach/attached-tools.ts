import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import { unlessAborted } from "@taskbridge/core";
import { methodNotFoundCode } from "@taskbridge/protocol";
import type { Caller, ServeContext } from "../mcp/serve-context.ts";
import { unknownTool } from "../mcp/unknown-tool.ts";
import { findTool, listTools } from "../mcp/visible-tools.ts";
import { serve2025, waitsForUpdates } from "../rev-2025/serve-2025.ts";
import { toCaller } from "../rev-2026-07-28/request-2026.ts";
import { callTool2026 } from "../rev-2026-07-28/serve-2026.ts";
import { servesTasks } from "../session/choose-task-wire.ts";
import type { AttachedRequest } from "./attached-request.ts";
import { type Attachment, readAttached, requireRunning, stoppedError, toRequest2025 } from "./attachment.ts";
import { requireAskable } from "./require-askable.ts";
import type { SdkHandler, SdkRequest, SdkServer } from "./sdk-server.ts";

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
      attached.era === "legacy" && servesTasks(serve, toRequest2025(attachment, request, attached).session);
    const ours = listTools(serve, toViewer(attached), { support: withSupport });
    const theirs = (listed.tools as readonly { readonly name: string }[]).filter(({ name }) => {
      if (findTool(serve, toViewer(attached), name) === undefined) return true;
      warnOfClash(serve, server, name);
      return false;
    });
    return { ...listed, tools: [...theirs, ...ours] };
  };
  const call: SdkHandler = async (request, extra) => {
    const attached = readAttached(attachment, extra);
    const name = request.params?.name;
    const found = typeof name === "string" ? findTool(serve, toViewer(attached), name) : undefined;
    if (found !== undefined) return callOurs(attachment, request, attached);
    if (hostCall === undefined) throw unknownTool(name);
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

/** Who asks, as far as it decides what is seen. */
const toViewer = (attached: AttachedRequest): Caller =>
  attached.context === undefined
    ? { ...attached, capabilities: { tasks: false, form: false, url: false } }
    : toCaller(attached, attached.context);

const callOurs = async (attachment: Attachment, request: SdkRequest, attached: AttachedRequest): Promise<Result> => {
  const { serve, session } = attachment;
  requireRunning(serve);
  if (attached.era === "legacy" || attached.context === undefined) {
    try {
      const legacy = toRequest2025(attachment, request, attached);
      const answer = serve2025(serve, legacy);
      // A stop does not close the connections of another server: without this, the client would wait for ever.
      return await (waitsForUpdates(serve, legacy) ? unlessAborted(serve.stopping, answer, stoppedError) : answer);
    } finally {
      session.settle(attached.id);
    }
  }
  const found = serve.catalog.find(String(request.params?.name));
  if (found === undefined) throw unknownTool(request.params?.name);
  const result = await callTool2026(serve, attached, found, request.params?.arguments, attached.context);
  requireAskable(result, attached.context);
  return result;
};

const clashes = new WeakMap<SdkServer, Set<string>>();

/** A tool that a host registers while it is connected, under the name of one of ours, can no longer be refused. */
const warnOfClash = ({ log }: ServeContext, server: SdkServer, tool: string): void => {
  const reported = clashes.get(server) ?? new Set();
  if (reported.has(tool)) return;
  clashes.set(server, reported.add(tool));
  log.warn({ tool }, "a tool of the host has the name of a pipeline and is hidden by it: rename one of them");
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
  const { session } = toRequest2025(attachment, request, attached);
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
  throw new ProtocolError(methodNotFoundCode, `${tool.name} cannot be called as a task`);
};
