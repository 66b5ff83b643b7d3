import {
  isTaskClientError,
  type TaskClientError,
  type ToolResult,
  type TaskState as WireState,
  type TaskStatus as WireStatus,
} from "@taskbridge/client";
import type { ExecutionProgress, JsonObject, TaskState } from "@taskbridge/core";
import type { Question, TaskStatus } from "../task-source.ts";

const states: Readonly<Record<WireState, TaskState>> = {
  submitted: "queued",
  working: "running",
  input_required: "waiting",
  completed: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  unknown: "failed",
};

/** What a task that has ended came to. */
export type Outcome = ToolResult | TaskClientError;

/** A task of any wire, with its outcome where that is known. */
export const toStatus = (task: WireStatus, outcome?: Outcome): TaskStatus => {
  const { taskId, message, questions, createdAt, updatedAt, keepMs } = task;
  const failure = toFailure(task, outcome);
  const state = failure === undefined ? states[task.state] : "failed";
  const progress = state === "running" && message !== undefined ? parseProgress(message) : undefined;
  return {
    taskId,
    state,
    ...(message === undefined || progress !== undefined ? {} : { message }),
    ...(progress === undefined ? {} : { progress }),
    questions: questions.map(toQuestion),
    ...(failure === undefined ? {} : { failure }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
    ...(createdAt === undefined || typeof keepMs !== "number" ? {} : { expiresAt: createdAt + keepMs }),
  };
};

/** Its schema is JSON: it came over the wire. */
export const toQuestion = ({ schema, ...question }: WireStatus["questions"][number]): Question =>
  schema === undefined ? question : { ...question, schema: schema as JsonObject };

/** Servers put the cause of a failure into the message, so that it is known without asking for the result. */
const toFailure = ({ state, message }: WireStatus, outcome: Outcome | undefined): TaskStatus["failure"] | undefined => {
  const isFailed = state === "failed" || state === "unknown";
  if (isTaskClientError(outcome)) return isFailed ? { reason: outcome.message } : undefined;
  if (outcome?.isError === true) {
    const [reason = "failed", ...detail] = textsOf(outcome);
    return detail.length === 0 ? { reason } : { reason, detail: detail.join("\n") };
  }
  return isFailed ? { reason: message ?? "failed" } : undefined;
};

/** The content of a result, a text for each block. */
export const textsOf = ({ content }: ToolResult): readonly string[] =>
  content.map(({ type, text, uri }) =>
    type === "text" ? String(text) : `[${type}${uri === undefined ? "" : ` ${uri}`}]`,
  );

/** The wires have no place for numbers, so servers of ours tell progress as `3 of 10: message`. */
const parseProgress = (message: string): ExecutionProgress | undefined => {
  const [, done, total, rest] = /^(\d+(?:\.\d+)?)(?: of (\d+(?:\.\d+)?))?(?:: (.*))?$/s.exec(message) ?? [];
  if (done === undefined) return undefined;
  return {
    done: Number(done),
    ...(total === undefined ? {} : { total: Number(total) }),
    ...(rest === undefined ? {} : { message: rest }),
  };
};
