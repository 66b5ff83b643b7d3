import { isTaskClientError, type RpcFault, TaskClientError } from "./client-error.ts";
import { isObject, type Members, toMembers } from "./is-object.ts";
import { methodNotFound } from "./rpc-codes.ts";

/** An error answer of the server. */
export const toRefusal = (fault: unknown): TaskClientError => {
  const { code, message, data } = (typeof fault === "object" && fault !== null ? fault : {}) as Members;
  const rpc: RpcFault = { code: Number(code), message: String(message), ...(data === undefined ? {} : { data }) };
  const retryAfterMs = toMembers(data)["retryAfterMs"];
  return new TaskClientError("refused", rpc.message, {
    rpc,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  });
};

/**
 * What a transport of either SDK rejects with, which neither package is imported for: SDK 2 has the status in `data`,
 * SDK 1 in `code` and the body in the message. `legacy`: the connection has a session, so that 404 says it is lost.
 */
export const toClientError = (error: unknown, legacy: boolean): TaskClientError => {
  if (isTaskClientError(error)) return error;
  const members = (typeof error === "object" && error !== null ? error : {}) as Members;
  const message = String(members["message"] ?? error);
  // SDK 2 throws some answers, as its ProtocolError.
  if (typeof members["code"] === "number" && members["code"] < 0) return toRefusal(error);
  const status = httpStatus(members);
  if (status === undefined) return toUnreachable(error, message, members);
  const text = String(toMembers(members["data"])["text"] ?? message);
  const { fault, isOfWhole } = readFault(text);
  const retryAfterMs = readRetryAfter(toMembers(members["data"]), fault);
  if (status === 408 || status === 429 || status >= 500) {
    // Too many requests: this one was turned away. As was one that a server "cannot accept", which it says without an ID:
    // https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
    const notSent = status === 429 || (status === 503 && isOfWhole);
    return new TaskClientError("unreachable", `HTTP ${status}`, {
      httpStatus: status,
      retryAfterMs,
      notSent,
      cause: error,
    });
  }
  if (status === 404 && legacy && fault?.["code"] !== methodNotFound) {
    return new TaskClientError("session_lost", "the server does not know the session any more", {
      httpStatus: status,
      notSent: true,
      cause: error,
    });
  }
  if (fault !== undefined) return toRefusal(fault);
  return new TaskClientError("refused", `HTTP ${status}: ${text.slice(0, 200)}`, { httpStatus: status, cause: error });
};

const httpStatus = ({ code, data }: Members): number | undefined => {
  const status = toMembers(data)["status"] ?? code;
  return typeof status === "number" && status >= 100 && status <= 599 ? status : undefined;
};

/** Codes of a connection that was not made, so that nothing was sent. */
const unmade = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

const toUnreachable = (error: unknown, message: string, members: Members): TaskClientError => {
  const cause = (members["cause"] ?? {}) as { code?: unknown; message?: unknown };
  const reason = cause.code ?? cause.message;
  return new TaskClientError("unreachable", reason === undefined ? message : `${message} (${String(reason)})`, {
    notSent: unmade.has(String(cause.code)),
    cause: error,
  });
};

interface ReadFault {
  readonly fault?: Members;
  /**
   * An MCP server has refused the message as a whole, answering no request in it by its ID, and tells when to send it again. What a gateway
   * writes of a server that it has lost looks much the same.
   */
  readonly isOfWhole: boolean;
}

const readFault = (text: string): ReadFault => {
  const from = text.indexOf("{");
  if (from < 0) return { isOfWhole: false };
  try {
    const { jsonrpc, error, id = null } = toMembers(JSON.parse(text.slice(from)));
    if (!isObject(error) || typeof error["code"] !== "number") return { isOfWhole: false };
    const hasRetryTime = typeof toMembers(error["data"])["retryAfterMs"] === "number";
    return { fault: error, isOfWhole: jsonrpc === "2.0" && id === null && hasRetryTime };
  } catch {
    // Not JSON: a proxy's page, which says nothing that a program can use.
    return { isOfWhole: false };
  }
};

/** In `Retry-After` where the SDK keeps headers, else where servers of ours repeat it. */
const readRetryAfter = ({ headers }: Members, fault: Members | undefined): number | undefined => {
  const header = headers instanceof Headers ? headers.get("retry-after") : toMembers(headers)["retry-after"];
  const seconds = Number(header ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  const retryAfterMs = toMembers(fault?.["data"])["retryAfterMs"];
  return typeof retryAfterMs === "number" ? retryAfterMs : undefined;
};
