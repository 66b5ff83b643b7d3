import { isTaskClientError, TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { isObject, type Members, toMembers } from "./is-object.ts";
import { withJitter } from "./jitter.ts";
import { internalError } from "./rpc-codes.ts";
import type { SdkClient, SdkTransport } from "./sdk-client.ts";
import { type RequestOptions, type Tap, type TapListener, tapTransport } from "./tap-transport.ts";
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
  /** For what may be done twice: again and again with growing pauses while the server cannot be reached. */
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
const shortestPauseMs = 250;
const longestPauseMs = 5_000;
/** SDK clients do not hand on how long a server that has too much to do wants to be left alone. */
const busyPauseMs = 2_000;
/** So often a look that the server cannot answer for reasons of its own is tried. */
const mostFaults = 6;
/** Looks, for which an internal error of the server says nothing of the task. In the result of a task it does. */
const looks: ReadonlySet<string> = new Set(["tasks/get", "tasks/list", "tools/list", "resources/read"]);

const isPassingFault = (error: unknown, method: string): boolean =>
  isTaskClientError(error, "refused") &&
  (error.retryAfterMs !== undefined || (error.rpc?.code === internalError && looks.has(method)));

/** Throws `invalid_input` for a client that is not connected. */
export const openConnection = (first: SdkClient, options: ConnectionOptions): Connection => {
  const { reconnect, retryForMs, clock } = options;
  const notified = new Set<(method: string, params: Members) => void>();
  const troubled = new Set<() => void>();
  const tell = (): void => {
    for (const listener of [...troubled]) listener();
  };
  const modern = speaksModern(first);
  const closing = new AbortController();
  const open = (client: SdkClient): Session => ({
    client,
    tap: tapTransport(
      transportOf(client),
      { legacy: !modern, clock },
      {
        onNotification: (method, params) => {
          for (const listener of [...notified]) listener(method, params);
        },
        onRequest: options.onRequest,
        onClosed: () => {
          tell();
          options.onClosed?.();
        },
        onTrouble: tell,
      },
    ),
  });
  let current = open(first);
  let opening: Promise<Session> | undefined;
  /** However many requests find a session lost, one opens the next. */
  const replace = (lost: Session): Promise<Session> => {
    closing.signal.throwIfAborted();
    if (current !== lost) return Promise.resolve(current);
    if (reconnect === undefined) {
      throw new TaskClientError("session_lost", "the session is lost, and taskClient was given no `reconnect`");
    }
    opening ??= openNext(reconnect, lost).finally(() => {
      opening = undefined;
    });
    return opening;
  };
  const openNext = async (connect: () => Promise<SdkClient>, lost: Session): Promise<Session> => {
    const client = await connect().catch((error: unknown) => {
      throw toClientError(error, false);
    });
    if (closing.signal.aborted) {
      await leave(client);
      throw closing.signal.reason;
    }
    current = open(client);
    lost.tap.remove(new TaskClientError("unreachable", "the connection was replaced"));
    // Else its stream would keep the process alive, and ask again for what nobody hears.
    void leave(lost.client);
    return current;
  };
  const request: Connection["request"] = async (method, params, requestOptions) => {
    const session = current;
    try {
      return await session.tap.request(method, params, requestOptions);
    } catch (error) {
      const isLost = isTaskClientError(error, "session_lost");
      const isClosed = isTaskClientError(error) && error.notSent && !session.tap.isOpen();
      if (!isLost && !(isClosed && reconnect !== undefined)) throw error;
      return (await replace(session)).tap.request(method, params, requestOptions);
    }
  };

  const again = async (
    method: string,
    params: Members,
    requestOptions: RequestOptions,
    mayRepeat: (error: unknown, tries: number) => boolean,
  ): Promise<Members> => {
    const startedAt = clock.now();
    const { signal } = requestOptions;
    let pauseMs = shortestPauseMs;
    for (let tries = 1; ; tries++) {
      try {
        return await request(method, params, requestOptions);
      } catch (error) {
        signal?.throwIfAborted();
        closing.signal.throwIfAborted();
        const isGone = !current.tap.isOpen() && reconnect === undefined;
        if (!mayRepeat(error, tries) || !isTaskClientError(error) || isGone) throw error;
        if (tries === 1 && error.code === "unreachable") options.onUnreachable?.(error);
        const nextMs = Math.max(
          withJitter(pauseMs),
          error.retryAfterMs ?? (error.httpStatus === 429 ? busyPauseMs : 0),
        );
        if (clock.now() + nextMs - startedAt > retryForMs) throw error;
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
        await clock.sleep(nextMs, signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]));
      }
    }
  };

  return {
    modern,
    hasStreams: "terminateSession" in transportOf(first),
    session: () => current,
    capabilities: () => toMembers(current.client.getServerCapabilities()),
    request,
    patiently: (method, params, requestOptions) =>
      again(
        method,
        params,
        { timeoutMs: answerTimeoutMs, ...requestOptions },
        (error, tries) =>
          isTaskClientError(error, "unreachable") || (tries < mostFaults && isPassingFault(error, method)),
      ),
    once: (method, params, requestOptions = {}) =>
      again(method, params, requestOptions, (error) => isTaskClientError(error, "unreachable") && error.notSent),
    notify: async (method, params) => {
      try {
        await current.tap.notify(method, params);
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
      current.tap.remove(reason);
      if (current.client !== first) await leave(current.client);
    },
  };
};

interface Session {
  readonly client: SdkClient;
  readonly tap: Tap;
}

/** There is nothing to do where a client cannot even be closed. */
const leave = (client: SdkClient): Promise<void> => client.close().catch(() => {});

const speaksModern = (client: SdkClient): boolean => (client.getNegotiatedProtocolVersion?.() ?? "") >= "2026-07-28";

const transportOf = (client: SdkClient): SdkTransport => {
  if (isObject(client?.transport)) return client.transport as unknown as SdkTransport;
  throw new TaskClientError(
    "invalid_input",
    "the client is not connected: a `Client` of @modelcontextprotocol/sdk or @modelcontextprotocol/client is needed, after its `connect`",
  );
};
