import type {
  ConnectedMcpSessionPort,
  IncomingServerRequest,
  JsonRpcResponse,
  SessionTaskCapabilities,
} from "@modelcontextprotocol/ext-tasks/client";
import type { JsonValue } from "@modelcontextprotocol/ext-tasks/core";
import { hasTaskServerCapabilityV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { isTaskClientError } from "./client-error.ts";
import { systemClock } from "./clock.ts";
import { type Connection, openConnection } from "./connection.ts";
import { isObject, type Members, toMembers } from "./is-object.ts";
import type { SdkClient } from "./sdk-client.ts";
import { version } from "./version.ts";
import { coreTasksCapability } from "./wire/core-tasks-wire.ts";
import { framing2026, unframed } from "./wire/framing-2026.ts";

export interface SessionPortOptions {
  /** Names the server in the references to tasks that a session gives out. */
  readonly endpointId: string;
  /** What 2026-07-28 is told this client is. Default: this package. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** What 2026-07-28 is told that a person can be asked. Default `{ form: {} }`. */
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  /** How long to try again to read while the server cannot be reached (milliseconds). Default 120,000. */
  readonly retryForMs?: number;
}

/** Requests that read, which may be sent again. Answers and cancellations are the session's to repeat. */
const reads = new Set(["tasks/get", "tasks/result", "tasks/list"]);
const asks = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

/**
 * A connected client of either SDK as the port that `withTasks` of `@modelcontextprotocol/ext-tasks` takes: for hosts that
 * have its sessions. Unlike the package's own, it takes clients of SDK 1 and needs no `rawDispatch`.
 */
export const taskSessionPort = (client: SdkClient, options: SessionPortOptions): ConnectedMcpSessionPort => {
  const { endpointId, clientInfo = { name: "@taskbridge/client", version }, elicitation = { form: {} } } = options;
  const handlers = new Set<(incoming: IncomingServerRequest) => Promise<JsonRpcResponse | undefined>>();
  const invalidations = new Set<(reason: unknown) => void>();
  let invalidated = false;
  const connection = openConnection(client, {
    retryForMs: options.retryForMs ?? 120_000,
    clock: systemClock,
    onRequest: (method, params) => {
      const [handle] = handlers;
      if (handle === undefined || !asks.has(method)) return undefined;
      return handle({ request: { method, params } as JsonValue, requestContext: undefined }).then(toAnswer);
    },
    onClosed: () => {
      invalidated = true;
      for (const listener of [...invalidations]) listener(new Error("the connection is closed"));
    },
  });
  const frame = connection.modern
    ? framing2026({ clientInfo: { ...clientInfo }, elicitation: { ...elicitation } }, true)
    : unframed;

  return {
    endpointId,
    taskCapabilities: capabilitiesOf(connection),
    dispatch: async (request, { signal, context } = {}) => {
      const { method, params } = toMembers(request);
      const send = reads.has(String(method)) ? connection.patiently : connection.request;
      const { requestTimeoutMs } = context ?? {};
      try {
        // The transports name the task in a header by themselves.
        const result = await send(String(method), frame(toMembers(params)), {
          ...(signal === undefined ? {} : { signal }),
          ...(requestTimeoutMs === undefined ? {} : { timeoutMs: requestTimeoutMs }),
        });
        return { kind: "result", result: result as JsonValue };
      } catch (error) {
        if (!isTaskClientError(error, "refused") || error.rpc === undefined) throw error;
        const { data, ...fault } = error.rpc;
        return { kind: "error", error: data === undefined ? fault : { ...fault, data: data as JsonValue } };
      }
    },
    onServerRequest: (handler) => {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
    onNotification: (listener) =>
      connection.onNotification((method, params) => listener({ jsonrpc: "2.0", method, params } as JsonValue)),
    onInvalidated: (listener) => {
      invalidations.add(listener);
      return () => void invalidations.delete(listener);
    },
    get invalidated() {
      return invalidated;
    },
  };
};

const capabilitiesOf = (connection: Connection): SessionTaskCapabilities => {
  const capabilities = connection.capabilities();
  if (connection.modern) {
    return hasTaskServerCapabilityV2(capabilities) ? { generation: "v2", capabilities: {} } : { generation: "none" };
  }
  const tasks = coreTasksCapability(capabilities);
  return tasks === undefined ? { generation: "none" } : { generation: "v1", capabilities: tasks };
};

/** Undefined leaves the request to the client's own handlers. */
const toAnswer = (response: JsonRpcResponse | undefined): Members | undefined => {
  if (response === undefined) return undefined;
  if (response.kind === "error") throw new Error(response.error.message);
  return isObject(response.result) ? response.result : {};
};
