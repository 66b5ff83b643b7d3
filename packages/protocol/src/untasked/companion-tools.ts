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

const taskId = { type: "string", description: "The ID that the call of the tool gave." };

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
    "Tells how a task stands that a tool of this server has started, and gives its result once it has ended. Call it when another answer says so, with waitSeconds, rather than again and again.",
  inputSchema: inputOf({
    waitSeconds: {
      type: "number",
      minimum: 0,
      maximum: maxWaitSeconds,
      default: 0,
      description: "Wait up to so many seconds for the end of the task, or for a question that it asks.",
    },
  }),
  annotations: reading,
};

const result: CompanionTool = {
  name: "task_result",
  title: "Result of a task",
  description:
    "Gives the result of a task that has ended, as text; a long one in parts, each of which names the offset of the next. Not needed when task_status has given the whole result.",
  inputSchema: inputOf({
    offset: { type: "integer", minimum: 0, description: "Where to begin, in bytes. Take it from the answer before." },
    length: {
      type: "integer",
      minimum: 1,
      maximum: maxPageBytes,
      description: `At most so many bytes. Default: ${defaultPageBytes}`,
    },
  }),
  annotations: reading,
};

const cancel: CompanionTool = {
  name: "task_cancel",
  title: "Cancel a task",
  description: "Stops a running task. What it has done so far stays done. Only on the user's request.",
  inputSchema: inputOf({}),
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
    "Answers a question that a task asks; task_status shows it, with its key and the form of the answer. Ask the user first.",
  inputSchema: inputOf(
    {
      key: { type: "string", description: "Which question. Not needed when there is but one." },
      action: {
        enum: ["accept", "decline", "cancel"],
        description: "accept: content is the answer. decline: the answer is no. cancel: there is no answer for now.",
      },
      content: { description: "With accept: the answer, in the form that the question asks for." },
    },
    "action",
  ),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

/** The companions in the order in which they are listed. `modelAnswers`: a model may answer questions. */
export const companionTools = (modelAnswers: boolean): readonly CompanionTool[] =>
  modelAnswers ? [status, result, cancel, answer] : [status, result, cancel];
