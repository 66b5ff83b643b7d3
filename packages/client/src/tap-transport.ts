import { randomUUID } from "node:crypto";
import { TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { type Deferred, deferred } from "./deferred.ts";
import { insertHandlers } from "./insert-handlers.ts";
import { type Members, toMembers } from "./is-object.ts";
import type { Message, SdkTransport } from "./sdk-client.ts";
import { type RequestHandling, requestServer } from "./serve-requests.ts";
import { toClientError, toRefusal } from "./to-client-error.ts";

/** What comes in beside answers. */
export interface TapListener extends Pick<RequestHandling, "onRequest"> {
  onNotification(method: string, params: Members): void;
  /** The transport is closed for good. */
  onClosed(): void;
  /** Something broke; SDK 1 does not say for which request. */
  onTrouble(): void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; absent: for ever. */
  readonly timeoutMs?: number;
  /** Tells the server when the signal ends the wait. */
  readonly cancels?: boolean;
  /** Told the ID that the request has. */
  onSend?(requestId: string): void;
}

/** Requests of our own beside those of an SDK's client, on the transport that it is connected to. */
export interface Tap {
  /** Resolves with the result. Rejects with a `TaskClientError`, or with the signal's reason. */
  request(method: string, params: Members, options?: RequestOptions): Promise<Members>;
  notify(method: string, params: Members): Promise<void>;
  isOpen(): boolean;
  /** Leaves the transport to the SDK's client alone, as it was. Requests of ours reject with the reason. */
  remove(reason: TaskClientError): void;
}

export interface TapOptions {
  /** Whether the connection has a session. */
  readonly legacy: boolean;
  readonly clock: Clock;
}

/**
 * The SDK's clients give up requests after a minute with a cancellation, and refuse answers that are tasks, so ours pass
 * them by. Messages that are not ours go on to the client.
 */
export const tapTransport = (transport: SdkTransport, { legacy, clock }: TapOptions, listener: TapListener): Tap => {
  const prefix = `taskbridge-${randomUUID().slice(0, 8)}`;
  const pending = new Map<string, Deferred<Members>>();
  const inserted = insertHandlers(transport, {
    // Gives true for what is ours alone.
    handle: (message, extra) => {
      const { id, method, params = {} } = message;
      if (method === undefined) return settle(pending.get(String(id)), message);
      if (id !== undefined) {
        requests.serve(message, extra);
        return true;
      }
      if (method === "notifications/cancelled") requests.withdraw(params["requestId"]);
      listener.onNotification(method, params);
      // The SDK's client does not know our subscriptions.
      const subscription = toMembers(params["_meta"])["io.modelcontextprotocol/subscriptionId"];
      return typeof subscription === "string" && subscription.startsWith(prefix);
    },
    onClosed: () => {
      end(new TaskClientError("unreachable", "the connection is closed"));
      listener.onClosed();
    },
    onTrouble: listener.onTrouble,
  });
  const requests = requestServer({
    onRequest: listener.onRequest,
    passOn: inserted.passOn,
    send: (message) => transport.send(message),
    onTrouble: listener.onTrouble,
  });
  let closed: TaskClientError | undefined;
  const end = (reason: TaskClientError): void => {
    closed ??= reason;
    for (const { reject } of [...pending.values()]) reject(reason);
    requests.close(reason);
  };
  const send = requestSender({ prefix, transport, pending, legacy, clock });
  return {
    request: async (method, params, options = {}) => {
      options.signal?.throwIfAborted();
      if (closed !== undefined) throw new TaskClientError(closed.code, closed.message, { notSent: true });
      return send(method, params, options);
    },
    notify: (method, params) => transport.send({ jsonrpc: "2.0", method, params }),
    isOpen: () => closed === undefined,
    remove: (reason) => {
      inserted.remove();
      end(reason);
    },
  };
};

const settle = (waiting: Deferred<Members> | undefined, { result, error }: Message): boolean => {
  if (waiting === undefined) return false;
  if (error === undefined) waiting.resolve((result ?? {}) as Members);
  else waiting.reject(toRefusal(error));
  return true;
};

interface Sending {
  /** Tells the IDs of our requests from those of the SDK's client. */
  readonly prefix: string;
  readonly transport: SdkTransport;
  /** Those that are not answered, by their IDs. */
  readonly pending: Map<string, Deferred<Members>>;
  readonly legacy: boolean;
  readonly clock: Clock;
}

const requestSender = ({ prefix, transport, pending, legacy, clock }: Sending) => {
  let sent = 0;
  return async (method: string, params: Members, options: RequestOptions): Promise<Members> => {
    const { signal, timeoutMs, cancels = false, onSend } = options;
    const id = `${prefix}-${++sent}`;
    const over = new AbortController();
    const late = new TaskClientError("unreachable", `${method}: no answer within ${timeoutMs} ms`);
    const stop = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => over.abort(late));
    const ending = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
    const answer = deferred<Members>();
    pending.set(id, answer);
    onSend?.(id);
    const sending = {
      requestSignal: ending,
      // Out of turn, because an answer that came last is passed on after its stream's end in some transports.
      onRequestStreamEnd: () =>
        void setImmediate(() =>
          answer.reject(new TaskClientError("unreachable", "the stream ended before the answer")),
        ),
    };
    try {
      ending.addEventListener("abort", () => answer.reject(ending.reason), { once: true });
      transport.send({ jsonrpc: "2.0", id, method, params }, sending).catch(answer.reject);
      return await answer.promise;
    } catch (error) {
      if (!signal?.aborted) throw toClientError(error, legacy);
      if (cancels) {
        const gone = { requestId: id, reason: "not waited for any more" };
        // Where this cannot be sent, nobody waits either.
        void transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: gone }).catch(() => {});
      }
      throw signal.reason;
    } finally {
      stop?.();
      pending.delete(id);
    }
  };
};
