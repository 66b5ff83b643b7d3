import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  InitializeRequestSchema,
  type JSONRPCMessage,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
  type ServerResult,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { serverTasksCapability } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Owner } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Channel } from "../session/channel.ts";
import { servesTasks } from "../session/choose-task-wire.ts";
import type { RequestId } from "../session/client-link.ts";
import { type OpenedSession, openSession } from "../session/open-session.ts";
import { type SdkSender, toClientLink } from "../session/sdk-link.ts";
import type { Session2025 } from "../session/session-2025.ts";
import { negotiateRevision } from "./negotiate-revision.ts";
import { serve2025 } from "./serve-2025.ts";

export interface ServerOptions2025 {
  readonly owner: Owner;
  readonly transport: "http" | "stdio";
  /** As in `SessionParts`. */
  readonly channelOf?: (requestId: RequestId) => Channel;
  /** As in `SessionParts`. */
  readonly name?: string;
}

export interface Server2025 {
  /** To be connected to a transport, once. */
  readonly server: Server;
  readonly session: Session2025;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Compiles nothing here, but every server would make one of its own. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/**
 * A server of the 2025 revisions for one session. The SDK keeps the connection; every method but its handshake is ours,
 * since its own handlers refuse what tasks need and explain less.
 */
export const createServer2025 = (serve: ServeContext, options: ServerOptions2025): Server2025 => {
  const closed = new AbortController();
  const capabilities: ServerCapabilities = {
    tools: { listChanged: true },
    resources: { listChanged: false, subscribe: false },
  };
  const server = new AttendedServer(serve.identity, {
    capabilities,
    jsonSchemaValidator,
    ...(serve.instructions === undefined ? {} : { instructions: serve.instructions }),
  });
  const session: OpenedSession = openSession(serve, {
    ...options,
    link: toClientLink(server as unknown as SdkSender),
    closed: closed.signal,
  });
  server.attend = (transport) => {
    transport.onclose = () => closed.abort(new Error("the session has ended"));
    transport.onmessage = (message) => {
      readAhead(message, serve, session);
      // The SDK answers `initialize` with this very object, and which revision it is for is only known now.
      if (servesTasks(serve, session)) capabilities.tasks = { ...serverTasksCapability(options.owner !== null) };
      else delete capabilities.tasks;
    };
    if (options.transport === "stdio") {
      session.channels.openOwn({ on: undefined, closed: closed.signal, isReady: () => true });
    }
  };
  server.fallbackRequestHandler = async ({ method, params = {} }, { requestId, signal }: Extra) => {
    const { owner, transport } = options;
    return (await serve2025(serve, {
      id: requestId,
      method,
      params,
      session,
      owner,
      transport,
      signal,
    })) as ServerResult;
  };
  server.onerror = (error) => serve.log.debug({ err: error }, "a message could not be served");
  return { server, session };
};

/** The SDK calls what a transport had before it was connected, so that every message is seen before the SDK acts on it. */
class AttendedServer extends Server {
  attend: (transport: Transport) => void = () => {};

  override async connect(transport: Transport): Promise<void> {
    this.attend(transport);
    await super.connect(transport);
  }
}

/** Learns who the client is, and takes out what asks for a task where there is none: the SDK would refuse the request. */
const readAhead = (message: JSONRPCMessage, serve: ServeContext, session: OpenedSession): void => {
  if (!("method" in message) || message.params === undefined) return;
  const { method, params } = message;
  if (method === "notifications/cancelled") {
    const { requestId, reason } = params;
    // After the request itself, if that came along with it.
    queueMicrotask(() => session.draft.cancelled(requestId, reason));
  } else if (method === "initialize") {
    // What the SDK refuses changes nothing.
    if (!InitializeRequestSchema.safeParse(message).success) return;
    session.introduce(params.capabilities, negotiateRevision(params.protocolVersion));
  } else if (method !== "tools/call" || !servesTasks(serve, session)) {
    delete params.task;
  }
};
