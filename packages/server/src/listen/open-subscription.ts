import { type BridgeError, toBridgeError } from "@taskbridge/core";
import { type RpcError, toRpcError } from "@taskbridge/protocol";
import {
  type ListenRequest,
  missingCapabilityCode,
  missingExtension,
  missingExtensionMessage,
  parseTaskIds,
  type WireMessage,
} from "@taskbridge/protocol/tasks-2026-07-28";
import type { Owner } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { OwnerSlots } from "../owner-slots.ts";
import type { WireLimits } from "../server-limits.ts";
import { openTaskFeed, type TaskFeed } from "./task-feed.ts";

/** What the subscriptions of a server share. */
export interface ListenContext {
  readonly serve: ServeContext;
  readonly slots: OwnerSlots;
  readonly limits: WireLimits;
  /** How often a silent HTTP stream shows life (milliseconds). */
  readonly keepAliveMs: number;
}

/** Why a subscription is refused: the answer to its request. */
export interface ListenRefusal {
  /** Of HTTP. */
  readonly status: number;
  readonly message: WireMessage;
}

export type OpenedSubscription = { readonly feed: TaskFeed } | { readonly refusal: ListenRefusal };

/** A request for tasks is answered by a feed that holds one of the owner's places until it is stopped. */
export const openSubscription = async (
  { serve, slots, limits }: ListenContext,
  request: ListenRequest,
  owner: Owner,
  wake: () => void,
): Promise<OpenedSubscription> => {
  if (!request.capabilities.tasks) {
    return refuse(400, request, {
      code: missingCapabilityCode,
      message: missingExtensionMessage,
      data: { ...missingExtension },
    });
  }
  let leave: () => void = () => {};
  try {
    const taskIds = parseTaskIds(request.taskIds, limits.maxListenTaskIds);
    leave = slots.acquire(owner);
    const { id: subscriptionId, capabilities } = request;
    const feed = await openTaskFeed(serve, { subscriptionId, taskIds, owner, capabilities, wake });
    const stop = (): void => {
      feed.stop();
      leave();
    };
    return { feed: { ...feed, stop } };
  } catch (error) {
    leave();
    return refuse(200, request, toRpcError(logged(serve, toBridgeError(error))));
  }
};

const refuse = (status: number, { id }: ListenRequest, error: RpcError): OpenedSubscription => ({
  refusal: { status, message: { jsonrpc: "2.0", id, error } },
});

const logged = ({ log }: ServeContext, error: BridgeError): BridgeError => {
  if (error.code === "internal") log.error({ err: error }, "a subscription could not be opened");
  return error;
};
