import type { JsonObject } from "@taskbridge/core";
import { defaultPageBytes, maxPageBytes } from "./result-page.ts";

/** The tools by which a host that knows no tasks gets at one. */
export type CompanionName = "task_status" | "task_result" | "task_cancel" | "task_answer";

/** A companion as `tools/list` shows it. */
export interface CompanionTool {
  readonly name: CompanionName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations: JsonObject;
}

/** The longest that one `task_status` waits (seconds): hosts give a call up after 60 s, and the answer still has to travel. */
export const maxWaitSeconds = 45;

const taskId = { type: "string", description: "ID of the task, as returned by the tool that started it." };

const inputOf = (properties: JsonObject, ...required: readonly string[]): JsonObject => ({
  type: "object",
  properties: { taskId, ...properties },
  required: ["taskId", ...required],
  additionalProperties: false,
});

const reading = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const status: CompanionTool = {
  name: "task_status",
  title: "Status of a task",
  description:
    "Returns the status of a task that another tool of this server started, and its result once it has ended. Pass waitSeconds to wait instead of polling.",
  inputSchema: inputOf({
    waitSeconds: {
      type: "number",
      minimum: 0,
      maximum: maxWaitSeconds,
      default: 0,
      description: `Maximum seconds to wait until the task ends or asks a question (0 to ${maxWaitSeconds}).`,
    },
  }),
  annotations: reading,
};

const result: CompanionTool = {
  name: "task_result",
  title: "Result of a task",
  description:
    "Returns the result of a task that has ended, as text. A long result comes in parts, and each part names the offset of the next. Not needed if task_status has returned the whole result.",
  inputSchema: inputOf({
    offset: { type: "integer", minimum: 0, description: "Byte to start at. The previous part names it." },
    length: {
      type: "integer",
      minimum: 1,
      maximum: maxPageBytes,
      description: `Maximum bytes to return. Default: ${defaultPageBytes}.`,
    },
  }),
  annotations: reading,
};

const cancel: CompanionTool = {
  name: "task_cancel",
  title: "Cancel a task",
  description: "Stops a running task. Work already done is not undone. Call it only if the user asks for it.",
  inputSchema: inputOf({}),
  // The others answer with what their task does, whose form they cannot promise; this one always says the same of it.
  outputSchema: {
    type: "object",
    properties: {
      taskId: { type: "string" },
      taskStatus: { enum: ["working", "input_required", "completed", "failed", "cancelled"] },
      next: { type: "string" },
    },
    required: ["taskId", "taskStatus"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

const answer: CompanionTool = {
  name: "task_answer",
  title: "Answer a task's question",
  description:
    "Answers a question that a task is asking. task_status shows the question, its key and the form of the answer. Ask the user first.",
  inputSchema: inputOf(
    {
      key: { type: "string", description: "Key of the question. Needed only if the task asks more than one." },
      action: {
        enum: ["accept", "decline", "cancel"],
        description: "accept: content is the answer. decline: the user says no. cancel: the user gives no answer now.",
      },
      content: { description: "Only with accept: the answer, in the form that the question asks for." },
    },
    "action",
  ),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

/** The companions in the order in which they are listed. `modelAnswers`: a model may answer questions. */
export const companionTools = (modelAnswers: boolean): readonly CompanionTool[] =>
  modelAnswers ? [status, result, cancel, answer] : [status, result, cancel];
