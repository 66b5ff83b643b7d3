import type { RequestId } from "./client-link.ts";

/** A stream on which a client can be told and asked something. */
export interface Channel {
  /** The client's request whose stream it is. Undefined: the session's own. */
  readonly on: RequestId | undefined;
  /** Fires when nothing can be sent any more. */
  readonly closed: AbortSignal;
  /**
   * False while the client has not yet taken what was sent before. Once closed: whether it has; of a lost connection
   * nobody knows, so that it has not.
   */
  isReady(): boolean;
  /** True: of a call of the SEP-1686 draft, where messages name their task by a key of their own. */
  readonly isSep1686?: true;
}
