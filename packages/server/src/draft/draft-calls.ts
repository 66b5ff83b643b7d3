import type { RequestId } from "../legacy/client-link.ts";
import { isRequestTimeout } from "../mcp/call-lifetime.ts";

/** What one session has to do with the SEP-1686 draft. */
export interface DraftCalls {
  /** Its client has shown that it speaks the draft. */
  speak(): void;
  isSpoken(): boolean;
  /**
   * Calls `cancel` whenever the client cancels this request, also after its stream is lost. A later request of the same ID
   * takes its place. Returns how to forget it.
   */
  keep(requestId: RequestId, cancel: () => void): () => void;
  /** The client has sent `notifications/cancelled`. */
  cancelled(requestId: unknown, reason: unknown): void;
}

/** Of calls whose streams were lost, so many can still be cancelled by their request IDs. */
const mostKept = 1_000;

export const createDraftCalls = (): DraftCalls => {
  const kept = new Map<unknown, () => void>();
  let isSpoken = false;
  return {
    speak: () => {
      isSpoken = true;
    },
    isSpoken: () => isSpoken,
    keep: (requestId, cancel) => {
      kept.delete(requestId);
      kept.set(requestId, cancel);
      const [oldest] = kept.keys();
      if (kept.size > mostKept) kept.delete(oldest);
      return () => {
        if (kept.get(requestId) === cancel) kept.delete(requestId);
      };
    },
    cancelled: (requestId, reason) => {
      // SDKs cancel a call when their own timeout passes, which nobody meant: the client has its ID to poll by.
      if (!isRequestTimeout(reason)) kept.get(requestId)?.();
    },
  };
};
