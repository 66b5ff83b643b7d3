import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import type { Connection } from "./serve-context.ts";

/** Whether the caller of one request still wants its answer. */
export interface CallLifetime {
  /** Fires when the caller's going away cancels the call. */
  readonly gone: AbortSignal;
  /** Fires when there is no point in waiting on: the caller is gone, its connection is, or the server is being stopped. */
  readonly over: AbortSignal;
  /** The answer is on its way: nothing fires any more. */
  settle(): void;
}

/**
 * Follows one request. The SDK's signal needs judging: it also fires right after a normal answer (hence `settle`), and
 * for every request under way when the server closes connections by itself.
 */
export const followCall = (request: AbortSignal, connection: Connection, stopping: AbortSignal): CallLifetime => {
  const gone = new AbortController();
  const over = new AbortController();
  const onAbort = (): void => {
    if (!stopping.aborted && cancelsCall(request.reason, connection)) gone.abort();
    over.abort();
  };
  const onStop = (): void => over.abort();
  request.addEventListener("abort", onAbort, { once: true });
  stopping.addEventListener("abort", onStop, { once: true });
  if (stopping.aborted) onStop();
  if (request.aborted) onAbort();
  return {
    gone: gone.signal,
    over: over.signal,
    settle: () => {
      request.removeEventListener("abort", onAbort);
      stopping.removeEventListener("abort", onStop);
    },
  };
};

/**
 * - 2026-07-28 over HTTP: closing the connection is the cancellation.
 *   https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
 * - Elsewhere only `notifications/cancelled` is one; earlier revisions say that a lost connection must not count.
 * - An SDK of those revisions also sends it when its own request timeout passes, which nobody meant as a cancellation.
 */
const cancelsCall = (reason: unknown, { era, transport }: Connection): boolean => {
  if (reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed) {
    return era === "modern" && transport === "http";
  }
  return era === "modern" || !isRequestTimeout(reason);
};

const isRequestTimeout = (reason: unknown): boolean => /-32001|timed? ?out/i.test(String(reason));
