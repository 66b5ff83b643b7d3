/** The ID of a JSON-RPC request. */
export type RequestId = string | number;

export interface LinkRequestOptions {
  /** The client's own request on whose stream this one goes. Absent: the session's own stream. */
  readonly on?: RequestId | undefined;
  /** Gives up waiting, and tells the client so. There is no other timeout. */
  readonly signal: AbortSignal;
}

/** The way to one client of a 2025 revision, whichever SDK keeps it. */
export interface ClientLink {
  /** Resolves with the result, unchecked. Rejects with the client's error, or with the signal's reason. */
  request(method: string, params: object, options: LinkRequestOptions): Promise<unknown>;
  notify(method: string, params: object, on?: RequestId): Promise<void>;
}
