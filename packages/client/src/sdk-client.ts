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
  close(): Promise<void>;
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
}

/** The transport of a connected client of either SDK. */
export interface SdkTransport {
  send(message: Message, options?: SendOptions): Promise<void>;
  onmessage?: ((message: Message, extra?: unknown) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: unknown) => void) | undefined;
}
