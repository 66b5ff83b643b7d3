import { isObject } from "@taskbridge/core";
import { invalidInput } from "../invalid-input.ts";
import { type CallerCapabilities, readCapabilities } from "./read-capabilities.ts";
import type { DetailedTask } from "./to-detailed-task.ts";

export const listenMethod = "subscriptions/listen";
export const acknowledgedMethod = "notifications/subscriptions/acknowledged";

const subscriptionIdKey = "io.modelcontextprotocol/subscriptionId";
const serverInfoKey = "io.modelcontextprotocol/serverInfo";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const versionKey = "io.modelcontextprotocol/protocolVersion";

type Json = Readonly<Record<string, unknown>>;

/** A JSON-RPC message as far as a listening stream looks into it. */
export interface WireMessage {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A `subscriptions/listen` request that asks for tasks. */
export interface ListenRequest {
  readonly id: string | number;
  /** As sent; `parseTaskIds` reads them once the request is known to be allowed. */
  readonly taskIds: unknown;
  readonly capabilities: CallerCapabilities;
  readonly version: unknown;
}

/** Undefined for any other message, also for a subscription without tasks. */
export const parseListenRequest = (message: unknown): ListenRequest | undefined => {
  if (!isObject(message) || message.method !== listenMethod) return undefined;
  const { id, params } = message;
  if ((typeof id !== "string" && typeof id !== "number") || !isObject(params)) return undefined;
  const notifications = params.notifications;
  if (!isObject(notifications) || notifications.taskIds === undefined) return undefined;
  const meta = isObject(params._meta) ? params._meta : {};
  return {
    id,
    taskIds: notifications.taskIds,
    capabilities: readCapabilities(meta[capabilitiesKey]),
    version: meta[versionKey],
  };
};

/** The IDs, each once. Throws `invalid_input`, also for more than `max`. */
export const parseTaskIds = (taskIds: unknown, max: number): readonly string[] => {
  const path = "notifications.taskIds";
  if (!Array.isArray(taskIds) || !taskIds.every((id) => typeof id === "string")) {
    throw invalidInput(path, "a list of texts is needed");
  }
  const ids = [...new Set(taskIds as string[])];
  if (ids.length <= max) return ids;
  throw invalidInput(path, `at most ${max} tasks can be listened to at once, got ${ids.length}`, { limit: max });
};

/** The subscription that an acknowledgement is about; undefined for any other message. */
export const acknowledgedId = (message: WireMessage): string | number | undefined => {
  if (message.method !== acknowledgedMethod) return undefined;
  const meta = message.params?._meta;
  const id = isObject(meta) ? meta[subscriptionIdKey] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
};

/** True for an acknowledgement of nothing at all. */
export const honoursNothing = (acknowledgement: WireMessage): boolean => {
  const honoured = acknowledgement.params?.notifications;
  return !isObject(honoured) || Object.keys(honoured).length === 0;
};

/** The acknowledgement with the tasks that are listened to among what it honours. */
export const withTaskIds = (acknowledgement: WireMessage, taskIds: readonly string[]): WireMessage => {
  const honoured = acknowledgement.params?.notifications;
  return {
    ...acknowledgement,
    params: { ...acknowledgement.params, notifications: { ...(isObject(honoured) ? honoured : {}), taskIds } },
  };
};

export const toTaskNotification = (subscriptionId: string | number, task: DetailedTask): WireMessage => ({
  jsonrpc: "2.0",
  method: "notifications/tasks",
  params: { ...task, _meta: { [subscriptionIdKey]: subscriptionId } },
});

/** Says that the server has ended the subscription on purpose. */
export const toGracefulEnd = (subscriptionId: string | number, serverInfo: Json): WireMessage => ({
  jsonrpc: "2.0",
  id: subscriptionId,
  result: {
    resultType: "complete",
    _meta: { [subscriptionIdKey]: subscriptionId, [serverInfoKey]: serverInfo },
  },
});
