import { isTaskClientError, type TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { type Members, toMembers } from "./is-object.ts";
import { internalError, unavailable } from "./rpc-codes.ts";
import type { SdkClient } from "./sdk-client.ts";
import { sendAgain } from "./send-again.ts";
import { sessionHolder, transportOf } from "./session-holder.ts";
import type { RequestOptions, TapListener } from "./tap-transport.ts";
import { toClientError } from "./to-client-error.ts";

export interface ConnectionOptions {
  reconnect?(): Promise<SdkClient>;
  readonly retryForMs: number;
  readonly clock: Clock;
  /** Told once for each time that the server cannot be reached. */
  onUnreachable?(error: TaskClientError): void;
  /** The connection is closed, and another may be opened. */
  onClosed?(): void;
  /** Takes a question of the server, or leaves it to the client's own handler. */
  onRequest: TapListener["onRequest"];
}

/** A connected client, and the next one when its session is lost. */
export interface Connection {
  /** Whether every request has a stream of its own, so that closing it tells the server. */
  readonly hasStreams: boolean;
  /** Whether it speaks 2026-07-28 or later, which has no sessions. */
  readonly modern: boolean;
  capabilities(): Members;
  /** Changes when the session does: request IDs mean something within one only. */
  session(): object;
  /** Sent once; again only where the first certainly did not reach the server. */
  request(method: string, params: Members, options?: RequestOptions): Promise<Members>;
  /** For what must not be done twice: waited for without a limit, and sent again only where it was certainly not acted on. */
  once(method: string, params: Members, options?: RequestOptions): Promise<Members>;
  /** For what may be done twice: again and again with growing pauses while the server, or what it keeps tasks in, cannot be reached. */
  patiently(method: string, params: Members, options?: RequestOptions): Promise<Members>;
  /** Sent once. Rejects with a `TaskClientError`. */
  notify(method: string, params: Members): Promise<void>;
  /** Returns how to stop listening. */
  onNotification(listener: (method: string, params: Members) => void): () => void;
  /** Something broke, perhaps the stream of a request: SDK 1 does not say which. Returns how to stop listening. */
  onTrouble(listener: () => void): () => void;
  /** Fires when `close` is called. */
  readonly closing: AbortSignal;
  /** Ends requests of ours with the reason, and closes what `reconnect` has opened. */
  close(reason: TaskClientError): Promise<void>;
}

/** Requests that are answered at once are given up after so long (milliseconds). */
export const answerTimeoutMs = 60_000;
/** So often a look that the server cannot answer for reasons of its own is tried. */
const maxFaults = 6;
/** Looks, for which an internal error of the server says nothing of the task. In the result of a task it does. */
const readMethods: ReadonlySet<string> = new Set(["tasks/get", "tasks/list", "tools/list", "resources/read"]);

/** Throws `invalid_input` for a client that is not connected. */
export const openConnection = (first: SdkClient, options: ConnectionOptions): Connection => {
  const { retryForMs, clock, reconnect, onUnreachable } = options;
  const notified = new Set<(method: string, params: Members) => void>();
  const troubled = new Set<() => void>();
  const reportTrouble = (): void => {
    for (const listener of [...troubled]) listener();
  };
  const modern = speaks2026(first);
  const closing = new AbortController();
  const sessions = sessionHolder(first, {
    legacy: !modern,
    clock,
    closing: closing.signal,
    ...(reconnect === undefined ? {} : { reconnect }),
    listener: {
      onNotification: (method, params) => {
        for (const listener of [...notified]) listener(method, params);
      },
      onRequest: options.onRequest,
      onClosed: () => {
        reportTrouble();
        options.onClosed?.();
      },
      onTrouble: reportTrouble,
    },
  });
  const request: Connection["request"] = async (method, params, requestOptions) => {
    const session = sessions.current();
    try {
      return await session.tap.request(method, params, requestOptions);
    } catch (error) {
      const isLost = isTaskClientError(error, "session_lost");
      const isClosed = isTaskClientError(error) && error.notSent && !session.tap.isOpen();
      if (!isLost && !(isClosed && reconnect !== undefined)) throw error;
      return (await sessions.replace(session)).tap.request(method, params, requestOptions);
    }
  };
  const patience = {
    clock,
    retryForMs,
    closing: closing.signal,
    isGone: () => !sessions.current().tap.isOpen() && reconnect === undefined,
    ...(onUnreachable === undefined ? {} : { onUnreachable }),
  };

  return {
    modern,
    hasStreams: "terminateSession" in transportOf(first),
    session: sessions.current,
    capabilities: () => toMembers(sessions.current().client.getServerCapabilities()),
    request,
    patiently: (method, params, requestOptions) => {
      const limited = { timeoutMs: answerTimeoutMs, ...requestOptions };
      const mayRepeat = (error: TaskClientError, tries: number): boolean =>
        error.code === "unreachable" || isUnavailable(error) || (tries < maxFaults && isPassingFault(error, method));
      return sendAgain(() => request(method, params, limited), { ...patience, mayRepeat, signal: limited.signal });
    },
    once: (method, params, requestOptions = {}) => {
      const mayRepeat = (error: TaskClientError): boolean => error.code === "unreachable" && error.notSent;
      const { signal } = requestOptions;
      return sendAgain(() => request(method, params, requestOptions), { ...patience, mayRepeat, signal });
    },
    notify: async (method, params) => {
      try {
        await sessions.current().tap.notify(method, params);
      } catch (error) {
        throw toClientError(error, !modern);
      }
    },
    onNotification: (listener) => {
      notified.add(listener);
      return () => void notified.delete(listener);
    },
    onTrouble: (listener) => {
      troubled.add(listener);
      return () => void troubled.delete(listener);
    },
    closing: closing.signal,
    close: async (reason) => {
      if (closing.signal.aborted) return;
      closing.abort(reason);
      await sessions.close(reason);
    },
  };
};

/** The server has answered that what it keeps its tasks in is away. */
export const isUnavailable = (error: TaskClientError): boolean =>
  error.code === "refused" && error.rpc?.code === unavailable;

const isPassingFault = (error: TaskClientError, method: string): boolean =>
  error.code === "refused" &&
  (error.retryAfterMs !== undefined || (error.rpc?.code === internalError && readMethods.has(method)));

const speaks2026 = (client: SdkClient): boolean => (client?.getNegotiatedProtocolVersion?.() ?? "") >= "2026-07-28";
