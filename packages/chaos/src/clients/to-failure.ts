import { isTaskClientError } from "@taskbridge/client";
import type { Failure } from "./ledger.ts";
import { UnknownTaskError } from "./plain-host.ts";

const invalidParams = -32_602;
const internalError = -32_603;
const sessionNotFound = -32_001;

/** What any of the SDKs throws, by what it means. */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof UnknownTaskError) return { kind: "unknown task", why: withoutId(error.message) };
  if (isTaskClientError(error)) {
    const { code, rpc } = error;
    if (code === "not_found" || code === "expired")
      return { kind: "unknown task", why: `${rpc?.code}: ${withoutId(rpc?.message ?? error.message)}` };
    if (code === "cancelled") return { kind: "cancelled", why: "client: cancelled" };
    if (code === "refused" && rpc !== undefined) return toRpcFailure(rpc.code, rpc.message, rpc.data);
    if (code === "failed" && rpc !== undefined) return toRpcFailure(rpc.code, rpc.message, rpc.data);
    if (code === "bad_response") return { kind: "wrong", why: `client: ${error.message}` };
    return { kind: code === "session_lost" ? "gone" : "unavailable", why: `client: ${code}` };
  }
  const { code, message = "", data, cause, name } = toMembers(error);
  const { reason } = (data ?? {}) as { reason?: unknown };
  // A store that is away has the code 503 too, with its reason.
  const status = reason === undefined ? statusOf(code, data, message) : undefined;
  if (status !== undefined)
    return { kind: status === 404 ? "gone" : status >= 500 ? "unavailable" : "refused", why: `HTTP ${status}` };
  if (name === "TaskCancelledError") return { kind: "cancelled", why: "cancelled" };
  if (code === -32_001 || name === "TimeoutError" || name === "AbortError")
    return { kind: "unavailable", why: "timeout" };
  if (code === -32_000 || /connection (is )?closed|not connected/i.test(message))
    return { kind: "gone", why: "connection closed" };
  if (typeof code === "number") return toRpcFailure(code, message, data);
  if (code === undefined && typeof cause === "object" && cause !== null) return toFailure(cause);
  return { kind: "unavailable", why: `connection: ${String(code ?? message)}` };
};

const toRpcFailure = (code: number, message: string, data: unknown): Failure => {
  const text = withoutId(message.replace(/^MCP error -?\d+: /, ""));
  if (code === sessionNotFound && /session/i.test(text)) return { kind: "gone", why: `${code}: ${text}` };
  const { reason, retryAfterMs } = (data ?? {}) as { reason?: string; retryAfterMs?: number };
  if (code === invalidParams && /not found|expired/i.test(text))
    return { kind: "unknown task", why: `${code}: ${text}` };
  if (code === internalError && /task was cancelled/i.test(text)) return { kind: "cancelled", why: `${code}: ${text}` };
  if (reason === "unavailable" || retryAfterMs !== undefined)
    return { kind: "unavailable", why: `${code}: ${reason ?? text}` };
  return { kind: code === internalError ? "wrong" : "refused", why: `${code}: ${text}` };
};

interface Members {
  readonly code?: unknown;
  readonly message?: string;
  readonly data?: unknown;
  readonly cause?: unknown;
  readonly name?: string;
}

const toMembers = (value: unknown): Members => (typeof value === "object" && value !== null ? value : {});

/** SDK 1 has the status as its code, SDK 2 in its data. */
const statusOf = (code: unknown, data: unknown, message: string): number | undefined => {
  const status = (data as { status?: unknown } | undefined)?.status ?? code;
  if (typeof status === "number" && status >= 400 && status <= 599) return status;
  const reported = /HTTP (\d{3})/.exec(message)?.[1];
  return reported === undefined ? undefined : Number(reported);
};

/** Without what names a task, a call or an instant. */
const withoutId = (text: string): string =>
  text
    .replace(/"[^"]*"|\b[0-9a-zA-Z_-]{20,}\b/g, "…")
    .replace(/\b\d{3,}\b/g, "N")
    .split("\n")[0] ?? "";
