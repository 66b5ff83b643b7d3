import type { Message } from "../rpc-client.ts";
import type { Expectation } from "./official-schemas.ts";
import type { Dialect } from "./validate-lines.ts";

type Name = readonly [schema: Expectation["schema"], definition: string];

/** By method and `resultType`. */
const results: Readonly<Record<string, Name>> = {
  "server/discover complete": ["2026-07-28", "DiscoverResult"],
  "tools/list complete": ["2026-07-28", "ListToolsResult"],
  "tools/call complete": ["2026-07-28", "CallToolResult"],
  "tools/call input_required": ["2026-07-28", "InputRequiredResult"],
  "tools/call task": ["ext-tasks", "CreateTaskResult"],
  "tasks/get complete": ["ext-tasks", "GetTaskResult"],
  "tasks/update complete": ["ext-tasks", "UpdateTaskResult"],
  "tasks/cancel complete": ["ext-tasks", "CancelTaskResult"],
  "resources/read complete": ["2026-07-28", "ReadResourceResult"],
  "subscriptions/listen complete": ["2026-07-28", "SubscriptionsListenResult"],
};

const notifications: Readonly<Record<string, Name>> = {
  "notifications/tasks": ["ext-tasks", "TaskStatusNotification"],
  "notifications/subscriptions/acknowledged": ["2026-07-28", "SubscriptionsAcknowledgedNotification"],
  "notifications/progress": ["2026-07-28", "ProgressNotification"],
};

/** The error member; of the codes that are MCP's own, the whole message. */
const errors: Readonly<Record<number, Name>> = {
  [-32_601]: ["2026-07-28", "Error"],
  [-32_602]: ["2026-07-28", "Error"],
  [-32_603]: ["2026-07-28", "Error"],
  // Ours, outside of the range that JSON-RPC and MCP reserve.
  429: ["2026-07-28", "Error"],
  503: ["2026-07-28", "Error"],
};
const errorMessages: Readonly<Record<number, Name>> = {
  [-32_020]: ["2026-07-28", "HeaderMismatchError"],
  [-32_021]: ["2026-07-28", "MissingRequiredClientCapabilityError"],
};

const fits = ([schema, definition]: Name, value: unknown): Expectation => ({ schema, definition, value });
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** What a task brings along is open in its own definition, but not free. */
const inside = (task: unknown): readonly Expectation[] => {
  if (!isObject(task)) return [];
  return [
    ...(task.status === "completed" ? [fits(["2026-07-28", "CallToolResult"], task.result)] : []),
    ...(task.status === "failed" ? [fits(["2026-07-28", "Error"], task.error)] : []),
  ];
};

export const dialect20260728: Dialect = {
  result: (method, message) => {
    const name = results[`${method} ${String(message.result?.resultType)}`];
    if (name === undefined) return undefined;
    return [
      fits(["2026-07-28", "JSONRPCResultResponse"], message),
      fits(name, message.result),
      ...(method === "tasks/get" ? inside(message.result) : []),
    ];
  },
  error: (code, message) => {
    const [ofError, ofMessage] = [errors[code], errorMessages[code]];
    if (ofError === undefined && ofMessage === undefined) return undefined;
    return [
      fits(["2026-07-28", "JSONRPCErrorResponse"], message),
      ...(ofError === undefined ? [] : [fits(ofError, message.error)]),
      ...(ofMessage === undefined ? [] : [fits(ofMessage, message)]),
    ];
  },
  notification: (method, message) => {
    const name = notifications[method];
    if (name === undefined) return undefined;
    return [
      fits(["2026-07-28", "JSONRPCNotification"], message),
      fits(name, message),
      ...(method === "notifications/tasks" ? inside(message.params) : []),
      ...acknowledgedTasks(method, message),
    ];
  },
  // The revision has none: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
  request: () => undefined,
};

const acknowledgedTasks = (method: string, { params }: Message): readonly Expectation[] =>
  method === "notifications/subscriptions/acknowledged"
    ? [fits(["ext-tasks", "TaskSubscriptionAcknowledgedNotifications"], params?.notifications)]
    : [];
