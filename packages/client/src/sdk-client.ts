/**
 * What is needed of an SDK client: `Client` of `@modelcontextprotocol/sdk` 1.32 and of `@modelcontextprotocol/client` 2.4
 * both are one. Neither package is imported, so that a host need only have the one it uses.
 */
export interface SdkClient {
  /** Undefined while the client is not connected. */
  readonly transport?: object | undefined;
  getServerCapabilities(): object | undefined;
  /** SDK 1 has no such method, and speaks no revision after 2025-11-25. */
  getNegotiatedProtocolVersion?(): string | undefined;
  /** Throws when the host has set a handler of its own. */
  assertCanSetRequestHandler(method: string): void;
}

/** A message of JSON-RPC. */
export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** SDK 1 knows none of these and ignores them. */
export interface SendOptions {
  /** Closes the stream of the request. */
  readonly requestSignal?: AbortSignal;
  onRequestStreamEnd?(): void;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The transport of a connected client of either SDK. */
export interface SdkTransport {
  send(message: Message, options?: SendOptions): Promise<void>;
  onmessage?: (message: Message, extra?: unknown) => void;
  onclose?: () => void;
  onerror?: (error: unknown) => void;
}
