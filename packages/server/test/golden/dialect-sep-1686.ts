import type { Message } from "../rpc-client.ts";
import { dialect20251125 } from "./dialect-2025-11-25.ts";
import type { Expectation } from "./official-schemas.ts";
import type { Dialect } from "./validate-lines.ts";

const fits = (definition: string, value: unknown): Expectation => ({ schema: "sep-1686", definition, value });

const ofTasks: Readonly<Record<string, string>> = {
  "tasks/get": "GetTaskResult",
  "tasks/list": "ListTasksResult",
  "tasks/delete": "DeleteTaskResult",
};

const answer = (message: Message): Expectation => ({
  schema: "2025-11-25",
  definition: "JSONRPCResultResponse",
  value: message,
});

/** What calls and `tasks/result` answer is the result of a tool, tied to its task where there is one. */
const toolResult = (message: Message): readonly Expectation[] => [
  answer(message),
  { schema: "2025-11-25", definition: "CallToolResult", value: message.result },
  ...(message.result?._meta === undefined ? [] : [fits("TaskPayloadResult", message.result)]),
];

/** The draft is an addition to any revision: what is not of its tasks is as 2025-11-25 has it, which changed none of it. */
export const dialectSep1686: Dialect = {
  result: (method, message) => {
    if (method === "tasks/result") return [...toolResult(message), fits("TaskPayloadResult", message.result)];
    if (method === "tools/call") return toolResult(message);
    const definition = ofTasks[method];
    if (definition !== undefined) return [answer(message), fits(definition, message.result)];
    return dialect20251125.result(method, message);
  },
  error: dialect20251125.error,
  notification: (method, message) => {
    if (method === "notifications/tasks/created") return [fits("TaskCreatedNotification", message)];
    const known = dialect20251125.notification(method, message);
    if (known === undefined || method === "notifications/tasks/status") return undefined;
    return method === "notifications/progress" ? [...known, fits("RelatedParams", message.params)] : known;
  },
  request: (method, message) => {
    const known = dialect20251125.request(method, message);
    if (known === undefined) return undefined;
    return message.params?._meta === undefined ? known : [...known, fits("RelatedParams", message.params)];
  },
};
