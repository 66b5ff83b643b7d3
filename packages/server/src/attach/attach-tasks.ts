import { serverTasksCapability } from "@taskbridge/protocol/tasks-2025-11-25";
import { declaredExtension } from "@taskbridge/protocol/tasks-2026-07-28";
import type { OwnerPolicy } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { internalsOf, type TaskServerInternals } from "../task-server-internals.ts";
import type { TaskServer } from "../task-server-options.ts";
import { wrapResources } from "./attached-resources.ts";
import { attachSession } from "./attached-session.ts";
import { wrapTasks } from "./attached-tasks.ts";
import { wrapTools } from "./attached-tools.ts";
import type { Attachment } from "./attachment.ts";
import { endWithStdin } from "./end-with-stdin.ts";
import {
  type AttachableServer,
  attachedMark,
  refuse,
  type SdkHandler,
  type SdkParts,
  settleHandlers,
  toSdkParts,
} from "./sdk-server.ts";

export interface AttachOptions {
  /**
   * Whose tasks those of callers without verified auth are. Default: what `createTaskServer` was given, else `local` on stdio and other pipes; over HTTP `none`,
   * where only the ID of a task grants access to it and nothing can be listed.
   */
  readonly owners?: OwnerPolicy;
}

/**
 * Adds the pipelines of a task server to an MCP server of your own, an `McpServer` or `Server` of SDK 1 or 2: its tools,
 * prompts and resources stay as they are, ours come beside them, and so do the methods of tasks. To be called once for
 * each server, before it is connected. Throws `misconfigured`, saying what to do, where that is not possible.
 *
 * On 2026-07-28 subscriptions to tasks also need `withTaskStreams`.
 */
export const attachTasks = (host: AttachableServer, tasks: TaskServer, options: AttachOptions = {}): void => {
  const internals = internalsOf(tasks, "attachTasks");
  const { serve } = internals;
  const parts = toSdkParts(host);
  if (parts.server[attachedMark] === true) throw refuse("tasks are attached to this server already");
  requireOwnNames(serve, parts);
  const policy = options.owners ?? serve.owners;
  declare(parts, serve.wires, policy);
  settleHandlers(parts);
  const session = attachSession(serve, parts.server);
  const attachment: Attachment = { serve, parts, session, policy };
  const wrapped = new Map<string, SdkHandler>([
    ...observeHandshake(attachment),
    ...wrapTools(attachment),
    ...wrapTasks(attachment),
    ...wrapResources(attachment),
  ]);
  for (const [method, handler] of wrapped) parts.server._requestHandlers.set(method, handler);
  observeCancellations(attachment);
  attendConnect(attachment, wrapped, internals);
  parts.server[attachedMark] = true;
};

const requireOwnNames = ({ catalog }: ServeContext, { mcp }: SdkParts): void => {
  const taken = Object.keys(mcp?._registeredTools ?? {}).find((name) => catalog.find(name) !== undefined);
  if (taken === undefined) return;
  const isCompanion = catalog.find(taken)?.kind === "companion";
  const ways = isCompanion ? "rename yours, or set companions to never" : "rename one of them";
  throw refuse(`"${taken}" is the name of a tool on both sides: ${ways}`);
};

/** Capabilities are merged one level deep by the SDKs, so that each has to be whole. */
const declare = ({ server, sdk }: SdkParts, wires: ReadonlySet<string>, policy: OwnerPolicy | undefined): void => {
  const own = server.getCapabilities() as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  const tasks = own.tasks;
  const ours = serverTasksCapability(policy !== "none");
  server.registerCapabilities({
    tools: { ...own.tools },
    resources: { ...own.resources },
    ...(wires.has("2025-11-25")
      ? { tasks: { ...tasks, ...ours, requests: { ...(tasks?.requests as object | undefined), ...ours.requests } } }
      : {}),
    ...(wires.has("2026-07-28") && sdk === 2 ? { extensions: { ...own.extensions, ...declaredExtension } } : {}),
  });
};

/** Who the client is, is said once, and neither SDK hands it on. */
const observeHandshake = ({ parts: { server }, session }: Attachment): ReadonlyMap<string, SdkHandler> => {
  const theirs = server._requestHandlers.get("initialize");
  if (theirs === undefined) return new Map();
  const initialize: SdkHandler = async (request, extra) => {
    const result = await theirs(request, extra);
    const revision = typeof result.protocolVersion === "string" ? result.protocolVersion : undefined;
    session.current().introduce(request.params?.capabilities, revision);
    return result;
  };
  return new Map([["initialize", initialize]]);
};

/** The SDKs forget a request whose stream is lost; the draft of tasks has it cancelled by its ID all the same. */
const observeCancellations = ({ serve, parts: { server }, session }: Attachment): void => {
  const method = "notifications/cancelled";
  const theirs = server._notificationHandlers?.get(method);
  if (theirs === undefined || !serve.wires.has("sep-1686")) return;
  server._notificationHandlers?.set(method, async (notification) => {
    await theirs(notification);
    session.current().draft.cancelled(notification.params?.requestId, notification.params?.reason);
  });
};

/** Handlers that were replaced after us would leave tasks out without a word. */
const attendConnect = (
  attachment: Attachment,
  wrapped: ReadonlyMap<string, SdkHandler>,
  internals: TaskServerInternals,
): void => {
  const { serve, parts, session } = attachment;
  const { server } = parts;
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const replaced = [...wrapped].find(([method, handler]) => server._requestHandlers.get(method) !== handler);
    if (replaced !== undefined) {
      throw refuse(`the handler of ${replaced[0]} was replaced after attaching: attach last, just before connect()`);
    }
    requireOwnNames(serve, parts);
    session.connect(transport);
    endWithStdin(transport, internals);
    await connect(transport);
  };
};
