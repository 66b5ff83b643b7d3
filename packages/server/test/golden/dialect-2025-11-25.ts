import type { Message } from "../rpc-client.ts";
import type { Expectation } from "./official-schemas.ts";
import type { Dialect } from "./validate-lines.ts";

const results: Readonly<Record<string, string>> = {
  initialize: "InitializeResult",
  ping: "EmptyResult",
  "tools/list": "ListToolsResult",
  "tools/call": "CallToolResult",
  "tasks/get": "GetTaskResult",
  "tasks/list": "ListTasksResult",
  "tasks/cancel": "CancelTaskResult",
  "resources/list": "ListResourcesResult",
  "resources/templates/list": "ListResourceTemplatesResult",
  "resources/read": "ReadResourceResult",
};

const notifications: Readonly<Record<string, string>> = {
  "notifications/tasks/status": "TaskStatusNotification",
  "notifications/progress": "ProgressNotification",
  "notifications/cancelled": "CancelledNotification",
  "notifications/tools/list_changed": "ToolListChangedNotification",
};

const requests: Readonly<Record<string, string>> = {
  "elicitation/create": "ElicitRequest",
  "sampling/createMessage": "CreateMessageRequest",
  "tasks/get": "GetTaskRequest",
  "tasks/result": "GetTaskPayloadRequest",
  "tasks/cancel": "CancelTaskRequest",
};

/** The revision names no codes. These are JSON-RPC's, an unknown resource, and 429, which is ours. */
const codes: ReadonlySet<number> = new Set([-32_601, -32_602, -32_603, -32_002, 429, 503]);
/** Of HTTP requests that are refused before JSON-RPC begins: the SDK's transport's, and an unknown session. */
const codesWithoutId: ReadonlySet<number> = new Set([-32_600, -32_000, -32_001]);

const relatedTaskKey = "io.modelcontextprotocol/related-task";

const fits = (definition: string, value: unknown): Expectation => ({ schema: "2025-11-25", definition, value });

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

const relatedTask = (part: Json | undefined): unknown =>
  isObject(part?._meta) ? part._meta[relatedTaskKey] : undefined;

/** Its key is open to anything in the definitions that may carry it. */
const related = (part: Json | undefined): readonly Expectation[] =>
  relatedTask(part) === undefined ? [] : [fits("RelatedTaskMetadata", relatedTask(part))];

/** The tasks of this revision are for calls of tools only, so that is what their results are. */
const taskResult = (message: Message): readonly Expectation[] => [
  fits("GetTaskPayloadResult", message.result),
  fits("CallToolResult", message.result),
  fits("RelatedTaskMetadata", relatedTask(message.result)),
];

const namedResult = (method: string, { result }: Message): readonly Expectation[] | undefined => {
  const isCreated = method === "tools/call" && result !== undefined && "task" in result;
  const definition = isCreated ? "CreateTaskResult" : results[method];
  return definition === undefined ? undefined : [fits(definition, result)];
};

export const dialect20251125: Dialect = {
  result: (method, message) => {
    const named = method === "tasks/result" ? taskResult(message) : namedResult(method, message);
    return named === undefined ? undefined : [fits("JSONRPCResultResponse", message), ...named];
  },
  error: (code, message) => {
    const { id, ...rest } = message;
    // The SDK's transport says `id: null` where the definition wants no ID at all.
    const isRefusal = id === undefined || id === null;
    if (!(isRefusal ? codesWithoutId : codes).has(code)) return undefined;
    return [fits("JSONRPCErrorResponse", isRefusal ? rest : message)];
  },
  notification: (method, message) => {
    const definition = notifications[method];
    if (definition === undefined) return undefined;
    return [fits("JSONRPCNotification", message), fits(definition, message), ...related(message.params)];
  },
  request: (method, message) => {
    const definition = requests[method];
    if (definition === undefined) return undefined;
    return [
      fits("JSONRPCRequest", message),
      fits("ServerRequest", message),
      fits(definition, message),
      ...related(message.params),
    ];
  },
};
