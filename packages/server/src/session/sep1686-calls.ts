import { isRequestTimeout } from "../mcp/call-lifetime.ts";
import type { RequestId } from "./client-link.ts";

/** A call that can be cancelled by its request ID. */
export interface KeptCall {
  /** It is over: there is nothing left to cancel. */
  forget(): void;
  /** It has become no task: the ID means what it meant before, as for a client that repeats a call whose stream it has lost. */
  undo(): void;
}

/** The calls of one session that the SEP-1686 draft lets its client cancel. */
export interface Sep1686Calls {
  /**
   * Calls `cancel` whenever the client cancels this request, also after its stream is lost. A later request of the same ID
   * takes its place.
   */
  keep(requestId: RequestId, cancel: () => void): KeptCall;
  /** The client has used the ID for another request, which has nothing to do with the task. */
  drop(requestId: RequestId): void;
  /** The client has sent `notifications/cancelled`. */
  cancelled(requestId: unknown, reason: unknown): void;
}

/** The most calls whose streams were lost that can still be cancelled by their request IDs. */
const maxKept = 1_000;

export const createSep1686Calls = (): Sep1686Calls => {
  const kept = new Map<unknown, () => void>();
  return {
    keep: (requestId, cancel) => {
      const before = kept.get(requestId);
      const isKept = (): boolean => kept.get(requestId) === cancel;
      kept.delete(requestId);
      kept.set(requestId, cancel);
      const [oldest] = kept.keys();
      if (kept.size > maxKept) kept.delete(oldest);
      return {
        forget: () => {
          if (isKept()) kept.delete(requestId);
        },
        undo: () => {
          if (!isKept()) return;
          if (before === undefined) kept.delete(requestId);
          else kept.set(requestId, before);
        },
      };
    },
    drop: (requestId) => {
      kept.delete(requestId);
    },
    cancelled: (requestId, reason) => {
      // SDKs cancel a call when their own timeout passes, which nobody meant: the client has its ID to poll by.
      if (!isRequestTimeout(reason)) kept.get(requestId)?.();
    },
  };
};
