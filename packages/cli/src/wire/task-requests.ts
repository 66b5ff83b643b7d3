import { setTimeout as sleep } from "node:timers/promises";
import { types } from "node:util";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  SdkHttpError,
  type Transport,
} from "@modelcontextprotocol/client";
import { CliError, exitCodes } from "../cli-error.ts";
import { version } from "../version.ts";
import { type Members, parseJson } from "./members.ts";

export const protocolVersion = "2026-07-28";
export const tasksExtension = "io.modelcontextprotocol/tasks";
export const clientInfo: { readonly name: string; readonly version: string } = { name: "taskbridge", version };
export const clientCapabilities: ClientCapabilities = { elicitation: { form: {} } };

const requestTimeoutMs = 60_000;
/** A server that restarts is back within this time. */
const patienceMs = 120_000;

export interface RequestLimits {
  readonly signal?: AbortSignal;
  /** Default: a minute. */
  readonly timeoutMs?: number;
}

/** Sends one request and resolves with its result. Rejects with a `CliError`, `Unreachable` where it may be tried again. */
export type Request = (method: string, params: Members, limits?: RequestLimits) => Promise<Members>;

/** What each request of 2026-07-28 says of itself: here, that the client knows the extension. */
export const extensionMeta: Members = {
  [PROTOCOL_VERSION_META_KEY]: protocolVersion,
  [CLIENT_INFO_META_KEY]: clientInfo,
  [CLIENT_CAPABILITIES_META_KEY]: { ...clientCapabilities, extensions: { [tasksExtension]: {} } },
};

/** Requests with that `_meta`, sent through the SDK's transport past its client. */
export const taskRequests = (transport: Transport, url: URL, _meta?: Members): Request => {
  const pending = new Map<unknown, (message: Members) => void>();
  const forward = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = "id" in message && !("method" in message) ? pending.get(message.id) : undefined;
    if (settle === undefined) forward?.(message, extra);
    else settle(message as Members);
  };
  let sent = 0;

  return async (method, params, { signal, timeoutMs = requestTimeoutMs } = {}) => {
    const id = `taskbridge-${++sent}`;
    const over = new AbortController();
    const requestSignal = over.signal;
    const giveUp = (): void => over.abort(signal?.reason);
    signal?.addEventListener("abort", giveUp, { once: true });
    if (signal?.aborted) giveUp();
    const late = new Error(`no answer within ${timeoutMs} ms`);
    const timer = setTimeout(() => over.abort(late), timeoutMs).unref();
    try {
      const answer = await new Promise<Members>((resolve, reject) => {
        pending.set(id, resolve);
        requestSignal.addEventListener("abort", () => reject(requestSignal.reason), { once: true });
        const message = { jsonrpc: "2.0", id, method, params: _meta === undefined ? params : { ...params, _meta } };
        const onRequestStreamEnd = (): void => reject(new Error("the connection was closed before the answer"));
        transport.send(message as JSONRPCMessage, { requestSignal, onRequestStreamEnd }).catch(reject);
      });
      if (answer["error"] !== undefined) throw new Refused(method, answer["error"] as Members);
      return answer["result"] as Members;
    } catch (error) {
      throw toCliError(error, url, method);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      pending.delete(id);
    }
  };
};

/** The server has answered with an error of the protocol. */
export class Refused extends CliError {
  override readonly name: string = "Refused";
  readonly code: unknown;
  /** In the server's words. */
  readonly reason: string;

  constructor(method: string, { code, message, data }: Members) {
    const details = data === undefined ? "" : ` ${JSON.stringify(data)}`;
    const isUsage = code === -32602 && method === "tools/call";
    super(`${message} (${code})${details}`, isUsage ? exitCodes.usage : exitCodes.failed);
    this.code = code;
    this.reason = String(message);
  }
}

/** The server does not know the session: it has ended it, or was started anew. */
export class SessionLost extends CliError {
  override readonly name: string = "SessionLost";
}

/** The server could not be asked, and may be back soon. */
export class Unreachable extends CliError {
  override readonly name: string = "Unreachable";
}

/** Anything that a request may reject with, as what the command ends with. */
export const toCliError = (error: unknown, url: URL, method = "connect"): Error => {
  if (error instanceof CliError) return error;
  // Also of another realm, as those of `fetch` are where modules run in a context of their own.
  if (!types.isNativeError(error)) return new CliError(`${url}: ${String(error)}`);
  if (error.message === "interrupted") return error;
  if (error instanceof SdkHttpError) return toHttpError(error, url, method);
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  const reason = cause?.code ?? cause?.message;
  return new Unreachable(`${url}: ${error.message}${reason === undefined ? "" : ` (${reason})`}`, exitCodes.failed, {
    cause: error,
  });
};

const toHttpError = (failure: SdkHttpError, url: URL, method: string): CliError => {
  const { status, text } = failure.data as { status?: number; text?: string | null };
  if (status === 401)
    return new CliError(`${url}: a token is needed, or this one is not accepted: --token or TASKBRIDGE_TOKEN`);
  if (status !== undefined && (status >= 500 || status === 429)) return new Unreachable(`${url}: HTTP ${status}`);
  const body = parseJson(text ?? "");
  const known = (body as Members | undefined)?.["error"];
  const refused = typeof known === "object" && known !== null ? new Refused(method, known as Members) : undefined;
  const error = refused ?? new CliError(`${url}: HTTP ${status}: ${(text ?? "").slice(0, 200)}`);
  // A method that is unknown has this status as well.
  return status === 404 && refused?.code !== -32601 ? new SessionLost(error.message) : error;
};

/** Tries again with growing pauses while the server cannot be reached, for up to `patienceMs`. */
export const retryWhileUnreachable = async <T>(
  action: () => Promise<T>,
  onTrouble: (message: string) => void,
  signal?: AbortSignal,
): Promise<T> => {
  const startedAt = Date.now();
  for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    try {
      return await action();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Unreachable) || Date.now() - startedAt > patienceMs) throw error;
      if (pauseMs === 250) onTrouble(`${error.message}; trying again …`);
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    }
  }
};
