import {
  type Client,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type Transport,
} from "@modelcontextprotocol/client";
import {
  type ApplicationElicitResult,
  createApplicationInputHandler,
  createTaskSessionFromClient,
  type JsonRpcResponse,
  type RawClientDispatch,
  type TaskEnabledSession,
} from "@modelcontextprotocol/ext-tasks/client";
import type { JsonValue } from "@modelcontextprotocol/ext-tasks/core";
import type { ErrorV2 } from "@modelcontextprotocol/ext-tasks/core/v2";

export const protocolVersion = "2026-07-28";
export const clientInfo = { name: "newsletter-client", version: "1.0.0" };
export const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const requestTimeoutMs = 30_000;

/** The tasks extension for a connected client. `answer` stands for the person whom tasks ask. */
export const openTaskSession = (
  client: Client,
  transport: Transport,
  answer: (message: unknown) => ApplicationElicitResult,
): TaskEnabledSession =>
  createTaskSessionFromClient(client, {
    endpointId: "newsletter",
    rawDispatch: dispatchOver(transport),
    v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: capabilities },
    onInputRequest: createApplicationInputHandler({
      elicitation: ({ params }) => answer(params.message),
      sampling: refuse,
      roots: refuse,
    }),
  });

const refuse = (): never => {
  throw new Error("this client can ask a person, and nothing else");
};

/** The SDK's client refuses a call that is answered with a task, so such requests go through its transport beside it. */
const dispatchOver = (transport: Transport): RawClientDispatch => {
  const waiting = new Map<unknown, (response: JsonRpcResponse) => void>();
  const forward = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = "id" in message && !("method" in message) ? waiting.get(message.id) : undefined;
    if (settle === undefined) forward?.(message, extra);
    else if (isJSONRPCResultResponse(message)) settle({ kind: "result", result: message.result as JsonValue });
    else if (isJSONRPCErrorResponse(message)) settle({ kind: "error", error: message.error as ErrorV2 });
  };
  let sent = 0;

  return async (request, { signal, context } = {}) => {
    const id = `task-${++sent}`;
    const timeout = AbortSignal.timeout(context?.requestTimeoutMs ?? requestTimeoutMs);
    const requestSignal = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    return new Promise<JsonRpcResponse>((resolve, reject) => {
      waiting.set(id, resolve);
      requestSignal.addEventListener("abort", () => reject(requestSignal.reason), { once: true });
      const message = { ...(request as { readonly method: string }), jsonrpc: "2.0", id } as const;
      transport.send(message, { requestSignal, ...(context?.headers && { headers: context.headers }) }).catch(reject);
    }).finally(() => waiting.delete(id));
  };
};
