import { openQuestions, type TaskView } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";
import { toTaskTimes } from "../task-times.ts";
import { type OutputExpectation, toToolResult } from "../to-tool-result.ts";
import type { ToolResult } from "../tool-result.ts";
import type { SessionCapabilities } from "./read-capabilities.ts";
import { toElicitation } from "./to-elicitation.ts";
import { toSampling } from "./to-sampling.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task as every answer and notification shows it. */
export interface Task {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt`; null: unlimited. */
  readonly ttl: number | null;
  /** Milliseconds. */
  readonly pollInterval: number;
}

export interface TaskOptions {
  /**
   * What a task is whose tool result is an error. The specification says `failed`, and clients that obey it show
   * `statusMessage` only; `completed` lets them fetch the result.
   */
  readonly errorStatus: "failed" | "completed";
  /** Of the session that looks. Absent: any question can be put. */
  readonly capabilities?: SessionCapabilities | undefined;
  /** True: questions may also go to the client's model. Default false. */
  readonly modelAnswers?: boolean | undefined;
  /** Keys of questions that this session was asked in vain. */
  readonly unanswered?: ((key: string) => boolean) | undefined;
  /**
   * The tool's output schema: a result that does not fit is an error result. Costs one parsing of the output. A view
   * without its output, as lists have, is taken to fit.
   */
  readonly expectation?: OutputExpectation | undefined;
}

/** A task's state: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status */
export const toTask = (view: TaskView, options: TaskOptions): Task => {
  const { record } = view;
  const message = toStatusMessage(record, view.staleSince);
  switch (record.state) {
    case "succeeded":
      return options.expectation === undefined
        ? toTaskFields(view, "completed", message)
        : toResultStatus(view, toToolResult(view, options.expectation), message, options);
    case "failed":
      return record.failure?.kind === "protocol"
        ? toTaskFields(view, "failed", message)
        : toResultStatus(view, toToolResult(view), message, options);
    case "cancelled":
      return toTaskFields(view, "cancelled", message);
    case "waiting":
      return toWaiting(view, message, options);
    default:
      return toTaskFields(view, "working", message);
  }
};

export const toTaskFields = (view: TaskView, status: TaskStatus, statusMessage: string | undefined): Task => {
  const { createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = toTaskTimes(view);
  return {
    taskId: view.record.taskId,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs,
    pollInterval: pollIntervalMs,
  };
};

/** The cause of an error goes into the message: the official clients drop the result of a task that is `failed`. */
const toResultStatus = (
  view: TaskView,
  result: ToolResult,
  message: string | undefined,
  { errorStatus }: TaskOptions,
): Task => {
  if (!result.isError) return toTaskFields(view, "completed", message);
  const [cause] = result.content;
  return toTaskFields(view, errorStatus, cause?.type === "text" ? cause.text : message);
};

const toWaiting = (view: TaskView, message: string | undefined, options: TaskOptions): Task => {
  const { questions, taskId } = view.record;
  const { capabilities = anything, modelAnswers = false, unanswered } = options;
  const open = openQuestions(questions);
  const withheld = open.flatMap((question) => {
    if (unanswered?.(question.key) === true)
      return [`waits for an answer that this client did not give: ${question.message}`];
    if (modelAnswers && capabilities.sampling && typeof toSampling(question, taskId) !== "string") return [];
    const request = toElicitation(question, taskId, capabilities);
    return typeof request === "string" ? [request] : [];
  });
  const statusText = [message, ...withheld].filter((part) => part !== undefined).join("; ");
  return toTaskFields(
    view,
    withheld.length < open.length ? "input_required" : "working",
    statusText === "" ? undefined : statusText,
  );
};

const anything: Pick<SessionCapabilities, "form" | "url" | "sampling"> = { form: true, url: true, sampling: true };
