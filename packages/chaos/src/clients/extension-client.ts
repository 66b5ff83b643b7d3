import {
  Client,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  type JsonRpcResponse,
  type RawClientDispatch,
  resultFromTaskOutcome,
  type TaskEnabledSession,
  type TaskView,
} from "@modelcontextprotocol/ext-tasks/client";
import type { JsonValue, TaskId } from "@modelcontextprotocol/ext-tasks/core";
import type { ErrorV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import type { DriverKind, OpenQuestion, PollResult, TaskDriver } from "./task-driver.ts";
import { toGivenResult } from "./to-given-result.ts";

const protocolVersion = "2026-07-28";
const clientInfo = { name: "chaos", version: "1" };
const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const requestTimeoutMs = 15_000;

/** The official client of the extension on the SDK's own client and transport, as they are. */
export const extensionClient: DriverKind = {
  name: "SDK 2 with ext-tasks",
  wire: "2026-07-28",
  cancelDeletes: false,
  reconnects: false,
  connect: async ({ url, headers }) => {
    const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: { pin: protocolVersion } } });
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport);
    const session = createTaskSessionFromClient(client, {
      endpointId: "chaos",
      rawDispatch: dispatchOver(transport),
      v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: capabilities },
    });
    return toDriver(session, client);
  },
};

const toDriver = (session: TaskEnabledSession, client: Client): TaskDriver => {
  const controllerOf = (taskId: string): ReturnType<TaskEnabledSession["task"]> =>
    session.task(taskId as TaskId, { requestTimeoutMs });
  return {
    start: async (tool, args) => {
      const execution = await session.callTool(tool, args as Readonly<Record<string, JsonValue>>);
      if (execution.kind === "immediate")
        return { result: toGivenResult(resultFromTaskOutcome(await execution.result())) };
      await execution.detach();
      return { taskId: execution.handle.taskId };
    },
    poll: async (taskId) => toInspection(await controllerOf(taskId).snapshot()),
    result: async (taskId) => toGivenResult(resultFromTaskOutcome(await controllerOf(taskId).result())),
    cancel: async (taskId) => {
      await controllerOf(taskId).cancel();
      return false;
    },
    answer: (taskId, key, reply) => controllerOf(taskId).updateJson({ [key]: reply }),
    close: async () => {
      await session.close();
      await client.close();
    },
  };
};

const toInspection = ({ status, raw }: TaskView): PollResult => {
  const isOpen = status === "working" || status === "input_required";
  return {
    status: isOpen ? "open" : status === "cancelled" ? "cancelled" : "finished",
    questions: Object.entries(raw["inputRequests"] ?? {}).map(toQuestion),
    ...(status === "completed" ? { result: toGivenResult(raw["result"] as object) } : {}),
  };
};

const toQuestion = ([key, request]: [string, unknown]): OpenQuestion => {
  const { params } = request as { readonly params: { readonly message: string } };
  return { key, message: params.message };
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
      const onRequestStreamEnd = (): void => reject(new Error("the stream has ended without an answer"));
      transport
        .send(message, { requestSignal, onRequestStreamEnd, ...(context?.headers && { headers: context.headers }) })
        .catch(reject);
    }).finally(() => waiting.delete(id));
  };
};
