import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { invalidRequestCode } from "@taskbridge/protocol";
import {
  acknowledgedId,
  honoursNothing,
  type ListenRequest,
  parseListenRequest,
  protocolVersion,
  toGracefulEnd,
  type WireMessage,
  withTaskIds,
} from "@taskbridge/protocol/tasks-2026-07-28";
import type { Owner } from "../caller.ts";
import { createGate, type Gate } from "./gate.ts";
import { type ListenContext, openSubscription } from "./open-subscription.ts";
import type { TaskFeed } from "./task-feed.ts";

interface Subscription {
  readonly request: ListenRequest;
  readonly gate: Gate;
  feed?: TaskFeed;
  /** True when the SDK honours nothing of its own, so that it is ours to end. */
  isOurs: boolean;
  isClosed: boolean;
  forgetStop?: () => void;
}

/**
 * A transport that adds tasks to the SDK's `subscriptions/listen`. The SDK sees the request as well and refuses what is
 * wrong with it; its acknowledgement is completed, and tasks follow on the same connection. `closed` hears of the end.
 */
export const withTaskListen = (
  inner: Transport,
  context: ListenContext,
  owner: Owner,
  closed: () => void,
): Transport => {
  const subscriptions = new Map<string | number, Subscription>();
  const write = (message: WireMessage): Promise<void> => inner.send(message as JSONRPCMessage);
  const report = (error: unknown): void => outer.onerror?.(error instanceof Error ? error : new Error(String(error)));

  const close = (id: string | number): void => {
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return;
    subscriptions.delete(id);
    subscription.isClosed = true;
    subscription.forgetStop?.();
    subscription.feed?.stop();
    subscription.gate.open();
  };
  const closeAll = (): void => {
    for (const id of [...subscriptions.keys()]) close(id);
  };

  /** Writes as fast as the connection takes it: meanwhile newer states replace older ones. */
  const pump = async (id: string | number, subscription: Subscription, feed: TaskFeed): Promise<void> => {
    while (!subscription.isClosed) {
      const change = subscription.gate.next();
      const update = feed.take();
      if (update !== undefined) await write(update);
      else if (subscription.isOurs && feed.isOver()) await endOurs(id);
      else await change;
    }
  };
  const endOurs = async (id: string | number): Promise<void> => {
    close(id);
    await write(toGracefulEnd(id, { ...context.serve.identity }));
    // The SDK still counts the subscription, and would end it a second time.
    outer.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  };
  const acknowledge = async (id: string | number, subscription: Subscription, message: WireMessage): Promise<void> => {
    subscription.isOurs = honoursNothing(message);
    const opened = await openSubscription(context, subscription.request, owner, subscription.gate.open);
    if ("refusal" in opened) {
      close(id);
      await write(opened.refusal.message);
      outer.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      return;
    }
    subscription.feed = opened.feed;
    if (subscription.isClosed) return opened.feed.stop();
    await write(withTaskIds(message, opened.feed.taskIds));
    endAtStop(id, subscription);
    pump(id, subscription, opened.feed).catch((error: unknown) => {
      close(id);
      report(error);
    });
  };
  /** In somebody else's server the connection outlives ours, and what the SDK honours beside tasks goes on. */
  const endAtStop = (id: string | number, subscription: Subscription): void => {
    const { stopping } = context.serve;
    const onStop = (): void => {
      if (subscription.isOurs) endOurs(id).catch(report);
      else close(id);
    };
    subscription.forgetStop = () => stopping.removeEventListener("abort", onStop);
    stopping.addEventListener("abort", onStop, { once: true });
    if (stopping.aborted) onStop();
  };

  const receive = (message: WireMessage): void => {
    const request = parseListenRequest(message);
    // A wrong version or a missing envelope is the SDK's to refuse, and then there is no acknowledgement.
    if (request !== undefined && request.version === protocolVersion && context.serve.wires.has("2026-07-28")) {
      if (subscriptions.has(request.id)) {
        const error = { code: invalidRequestCode, message: "Invalid Request: the id is in use" };
        write({ jsonrpc: "2.0", id: request.id, error }).catch(report);
        return;
      }
      subscriptions.set(request.id, { request, gate: createGate(), isOurs: false, isClosed: false });
    } else if (message.method === "notifications/cancelled") {
      close(message.params?.requestId as string | number);
    }
    outer.onmessage?.(message as JSONRPCMessage);
  };
  const send = async (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    const wire = message as WireMessage;
    const acknowledged = acknowledgedId(wire);
    const id = acknowledged ?? wire.id;
    const subscription = id === undefined ? undefined : subscriptions.get(id);
    if (id === undefined || subscription === undefined) return inner.send(message, options);
    if (acknowledged !== undefined && subscription.feed === undefined) return acknowledge(id, subscription, wire);
    // The SDK's answer, an error or an end, closes the subscription as a whole.
    if (wire.result !== undefined || wire.error !== undefined) close(id);
    return inner.send(message, options);
  };

  const outer: Transport = {
    start: () => inner.start(),
    send,
    close: async () => {
      closeAll();
      await inner.close();
    },
    ...(inner.setProtocolVersion === undefined
      ? {}
      : { setProtocolVersion: (version: string) => inner.setProtocolVersion?.(version) }),
  };
  inner.onmessage = (message) => receive(message as WireMessage);
  inner.onerror = (error) => outer.onerror?.(error);
  inner.onclose = () => {
    closeAll();
    outer.onclose?.();
    closed();
  };
  return outer;
};
