import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import type { CallRequest } from "./call-request.ts";
import type { Connection } from "./serve-context.ts";

/** Whether the caller of one request still wants its answer. */
export interface CallLifetime {
  /** Fires when the call is taken back. */
  readonly gone: AbortSignal;
  /** Fires when there is no point in waiting on: the caller is gone, its connection is, or the server is being stopped. */
  readonly over: AbortSignal;
  /** The answer is on its way: nothing fires any more. */
  settle(): void;
}

/**
 * Follows one request. Its signal needs judging: it also fires right after a normal answer (hence `settle`), and for
 * every request under way when the server closes connections by itself.
 */
export const followCall = (
  request: Pick<CallRequest, "signal" | "isWithdrawn">,
  stopping: AbortSignal,
): CallLifetime => {
  const gone = new AbortController();
  const over = new AbortController();
  const onAbort = (): void => {
    if (!stopping.aborted && request.isWithdrawn(request.signal.reason)) gone.abort();
    over.abort();
  };
  const onStop = (): void => over.abort();
  request.signal.addEventListener("abort", onAbort, { once: true });
  stopping.addEventListener("abort", onStop, { once: true });
  if (stopping.aborted) onStop();
  if (request.signal.aborted) onAbort();
  return {
    gone: gone.signal,
    over: over.signal,
    settle: () => {
      request.signal.removeEventListener("abort", onAbort);
      stopping.removeEventListener("abort", onStop);
    },
  };
};

/**
 * On 2026-07-28 over HTTP closing the connection is the cancellation; elsewhere only `notifications/cancelled` is one.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
 */
export const isCallWithdrawn2026 = (reason: unknown, { transport }: Pick<Connection, "transport">): boolean =>
  !(reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed) || transport === "http";

/**
 * What SDKs give as the reason when they cancel a request because their own timeout has passed. Whole sentences: a person's
 * reason may speak of a timeout as well.
 */
const timeouts =
  /^(?:\w*Error: )?(?:MCP error -32001: .*|request (?:timed out|timeout)|maximum total timeout exceeded)\.?$/i;

/** An SDK of earlier revisions cancels a request when its own timeout passes, which nobody meant as a cancellation. */
export const isRequestTimeout = (reason: unknown): boolean => timeouts.test(String(reason));
