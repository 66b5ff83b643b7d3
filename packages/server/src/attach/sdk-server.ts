import { BridgeError } from "@taskbridge/core";
import type { SdkSender } from "../session/sdk-link.ts";

type Json = Readonly<Record<string, unknown>>;

/** A request as a handler of either SDK gets it. */
export interface SdkRequest {
  readonly method: string;
  readonly params?: Json | undefined;
}

/** How either SDK answers one method; `extra` is what that SDK knows about the request. */
export type SdkHandler = (request: SdkRequest, extra: unknown) => Promise<Json>;

export type SdkNotificationHandler = (notification: SdkRequest) => Promise<void>;

/** Known to every copy of this package, and lighter than a weak set, which servers made for each request would swell. */
export const attachedMark: unique symbol = Symbol.for("taskbridge.attached");

/** What the low-level servers of both SDKs have in common, some of it not for the public. */
export interface SdkServer extends SdkSender {
  readonly _requestHandlers: Map<string, SdkHandler>;
  readonly _notificationHandlers?: Map<string, SdkNotificationHandler>;
  /** SDK 2: methods that its codec lets through although it does not know them. */
  readonly _customSchemaRequestMethods?: Set<string>;
  readonly transport: unknown;
  [attachedMark]?: true;
  registerCapabilities(capabilities: Json): void;
  getCapabilities(): Json;
  /** SDK 2 only. */
  getNegotiatedProtocolVersion?(): string | undefined;
  connect(transport: SdkTransport): Promise<void>;
}

export interface SdkTransport {
  onmessage?: ((message: unknown, extra?: unknown) => void) | undefined;
  onclose?: (() => void) | undefined;
}

/** What the high-level servers of both SDKs add. */
export interface SdkMcpServer {
  readonly server: SdkServer;
  readonly _toolHandlersInitialized?: boolean;
  readonly _resourceHandlersInitialized?: boolean;
  readonly _registeredTools?: Json;
  setToolRequestHandlers?(): void;
  setResourceRequestHandlers?(): void;
  /** SDK 2 only: what it compares `Mcp-Param-*` headers with. */
  toolInputSchemaJson?(name: string): Json | undefined;
}

export interface SdkParts {
  readonly mcp: SdkMcpServer | undefined;
  readonly server: SdkServer;
  readonly sdk: 1 | 2;
}

/** An `McpServer` or `Server` of SDK 1 or 2. */
export interface AttachableServer {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
}

/** Throws `misconfigured`, saying what to do, for what cannot be attached to, or not at this moment. */
export const toSdkParts = (host: AttachableServer): SdkParts => {
  const candidate = host as unknown as Partial<SdkMcpServer & SdkServer> | null | undefined;
  const mcp = candidate?.server === undefined ? undefined : (candidate as SdkMcpServer);
  const server = (mcp?.server ?? candidate) as Partial<SdkServer> | null | undefined;
  if (
    !(server?._requestHandlers instanceof Map) ||
    typeof server.registerCapabilities !== "function" ||
    typeof server.getCapabilities !== "function"
  ) {
    throw refuse(
      "an McpServer or Server of @modelcontextprotocol/sdk 1.x or @modelcontextprotocol/server 2.x is needed",
    );
  }
  if (server.transport !== undefined) {
    throw refuse(
      "the server is connected already, and clients are told what it can do when they connect: attach before connect()",
    );
  }
  const sdk = typeof server.getNegotiatedProtocolVersion === "function" ? 2 : 1;
  return { mcp, server: server as SdkServer, sdk };
};

/**
 * Has an `McpServer` put its own handlers in place, so that they can be wrapped: with its first tool or resource it does
 * so itself, and finds ours in the way. Throws `misconfigured` where that cannot be had.
 */
export const settleHandlers = ({ mcp, server }: SdkParts): void => {
  if (mcp === undefined) return;
  const missing = [
    ["tools/list", mcp._toolHandlersInitialized, "setToolRequestHandlers", "tool", "tools"],
    ["resources/list", mcp._resourceHandlersInitialized, "setResourceRequestHandlers", "resource", "resources"],
  ] as const;
  for (const [method, isSettled, settle, first, capability] of missing) {
    if (isSettled === true || server._requestHandlers.has(method)) continue;
    if (typeof mcp[settle] !== "function") {
      throw refuse(
        `it is too early: register the first ${first} of your own before attaching, or create the server with capabilities: { ${capability}: {} }`,
      );
    }
    mcp[settle]();
  }
};

export const refuse = (message: string): BridgeError =>
  new BridgeError("misconfigured", `attachTasks: ${message}`, { data: { path: "server" } });
