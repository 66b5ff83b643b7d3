import { randomUUID } from "node:crypto";
import { TaskClientError } from "./client-error.ts";
import { type Members, toMembers } from "./members.ts";
import type { Message, SdkTransport, SendOptions } from "./sdk-client.ts";
import { toClientError, toRefusal } from "./to-client-error.ts";

/** What comes in beside answers. */
export interface TapListener {
  onNotification(method: string, params: Members): void;
  /** Takes a request of the server by giving its result to come, or leaves it to the SDK's client with undefined. The
   * signal fires with `takenBack`, or when the answer cannot be delivered. */
  onRequest(method: string, params: Members, signal: AbortSignal): Promise<Members | undefined> | undefined;
  /** The transport is closed for good. */
  onClosed(): void;
  /** Something broke; SDK 1 does not say for which request. */
  onTrouble(): void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; absent: for ever. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Tells the server when the signal ends the wait. */
  readonly cancels?: boolean;
  /** Told the ID that the request has. */
  onSend?(requestId: string): void;
}

/** Why the signal of a request fires that the server does not want answered any more; otherwise its answer was lost. */
export const takenBack = "taken back by the server";

/** Requests of our own beside those of an SDK's client, on the transport that it is connected to. */
export interface Tap {
  /** Resolves with the result. Rejects with a `TaskClientError`, or with the signal's reason. */
  request(method: string, params: Members, options?: RequestOptions): Promise<Members>;
  notify(method: string, params: Members): Promise<void>;
  isOpen(): boolean;
}

/**
 * The SDK's clients give up requests after a minute with a cancellation, and refuse answers that are tasks, so ours pass
 * them by. Messages that are not ours go on to the client. `legacy`: the connection has a session.
 */
export const tapTransport = (transport: SdkTransport, legacy: boolean, listener: TapListener): Tap => {
  const prefix = `taskbridge-${randomUUID().slice(0, 8)}`;
  const pending = new Map<string, { resolve(result: Members): void; reject(error: unknown): void }>();
  const serving = new Map<unknown, AbortController>();
  const { onmessage, onclose, onerror } = transport;
  let open = true;
  let sent = 0;

  const serve = (message: Message, extra: unknown): void => {
    const { id, method = "", params = {} } = message;
    const taken = new AbortController();
    const answer = listener.onRequest(method, params, taken.signal);
    if (answer === undefined) {
      onmessage?.(message, extra);
      return;
    }
    serving.set(id, taken);
    void answer
      .then(
        (result) => {
          if (result === undefined) return onmessage?.(message, extra);
          // A request that the server has taken back is not answered any more.
          if (taken.signal.aborted) return undefined;
          return transport.send({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), result });
        },
        (error: unknown) =>
          transport.send({
            jsonrpc: "2.0",
            ...(id === undefined ? {} : { id }),
            error: { code: -32_603, message: error instanceof Error ? error.message : String(error) },
          }),
      )
      .catch((error: unknown) => {
        taken.abort(error);
        listener.onTrouble();
      })
      .finally(() => serving.delete(id));
  };

  transport.onmessage = (message, extra) => {
    const { id, method, params } = message;
    if (method === undefined) {
      const waiting = pending.get(String(id));
      if (waiting === undefined) return onmessage?.(message, extra);
      if (message.error === undefined) return waiting.resolve((message.result ?? {}) as Members);
      return waiting.reject(toRefusal(message.error));
    }
    if (id !== undefined) return serve(message, extra);
    if (method === "notifications/cancelled") serving.get(params?.["requestId"])?.abort(takenBack);
    listener.onNotification(method, params ?? {});
    // The SDK's client does not know our subscriptions.
    const subscription = toMembers(params?.["_meta"])["io.modelcontextprotocol/subscriptionId"];
    if (typeof subscription !== "string" || !subscription.startsWith(prefix)) onmessage?.(message, extra);
  };
  transport.onclose = () => {
    open = false;
    const closed = new TaskClientError("unreachable", "the connection is closed");
    for (const { reject } of [...pending.values()]) reject(closed);
    for (const taken of serving.values()) taken.abort(closed);
    onclose?.();
    listener.onClosed();
  };
  transport.onerror = (error) => {
    onerror?.(error);
    listener.onTrouble();
  };

  const request: Tap["request"] = async (method, params, options = {}) => {
    const { signal, timeoutMs, headers, cancels = false, onSend } = options;
    const id = `${prefix}-${++sent}`;
    const over = new AbortController();
    const giveUp = (): void => over.abort(signal?.reason);
    if (signal?.aborted) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    const late = new TaskClientError("unreachable", `${method}: no answer within ${timeoutMs} ms`);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => over.abort(late), timeoutMs).unref();
    try {
      over.signal.throwIfAborted();
      if (!open) throw new TaskClientError("unreachable", "the connection is closed", { notSent: true });
      return await new Promise<Members>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        over.signal.addEventListener("abort", () => reject(over.signal.reason), { once: true });
        const sending: SendOptions = {
          requestSignal: over.signal,
          // Out of turn, because an answer that came last is passed on after its stream's end in some transports.
          onRequestStreamEnd: () =>
            void setImmediate(() => reject(new TaskClientError("unreachable", "the stream ended before the answer"))),
          ...(headers === undefined ? {} : { headers }),
        };
        onSend?.(id);
        transport.send({ jsonrpc: "2.0", id, method, params }, sending).catch(reject);
      });
    } catch (error) {
      if (cancels && signal?.aborted && open) {
        const gone = { requestId: id, reason: "not waited for any more" };
        // Where this cannot be sent, nobody waits either.
        void transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: gone }).catch(() => {});
      }
      if (signal?.aborted) throw signal.reason;
      throw toClientError(error, legacy);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      pending.delete(id);
    }
  };

  return {
    request,
    notify: (method, params) => transport.send({ jsonrpc: "2.0", method, params }),
    isOpen: () => open,
  };
};
