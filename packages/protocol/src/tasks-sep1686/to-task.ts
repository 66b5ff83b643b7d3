import { openQuestions, type TaskQuestion, type TaskRecord, type TaskView } from "@taskbridge/core";
import { toFailureError } from "../to-failure-error.ts";

/** `unknown` is for receivers that cannot tell what has become of a task; here a task that is lost is `failed` and says so. */
export type TaskStatus = "submitted" | "working" | "input_required" | "completed" | "failed" | "cancelled" | "unknown";

/** A task as answers show it. */
export interface Task {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** How long it is kept after its end, in milliseconds; null: for ever. */
  readonly keepAlive: number | null;
  /** Milliseconds. Absent once the task has ended. */
  readonly pollFrequency?: number;
  /** What went wrong with a task that is `failed`. */
  readonly error?: string;
  /** What is asked and cannot be put to who looks. Not of the draft, which lets answers hold more. */
  readonly statusMessage?: string;
}

export interface TaskOptions {
  /** Whether a question can be put to who looks. Absent: any can. */
  readonly canAsk?: (question: TaskQuestion) => boolean;
}

/**
 * A task's state. A job that failed is `completed`, with an error result; `failed` is for calls that could not be carried
 * out as such. https://modelcontextprotocol.io/seps/1686-tasks#task-get-response
 */
export const toTask = (view: TaskView, options: TaskOptions = {}): Task => {
  const { record, pollIntervalMs } = view;
  const status = toStatus(record, options);
  const statusMessage = toWithheld(record, options);
  return {
    taskId: record.taskId,
    status,
    keepAlive: Math.max(1, Math.ceil(record.policy.retentionMs)),
    ...(record.endedAt === undefined ? { pollFrequency: Math.max(1, Math.ceil(pollIntervalMs)) } : {}),
    ...(status === "failed" ? { error: toFailureError(record).message } : {}),
    ...(statusMessage === undefined ? {} : { statusMessage }),
  };
};

/** Nothing leads back to `submitted`: https://modelcontextprotocol.io/seps/1686-tasks#4-3-task-status-lifecycle */
const toStatus = (record: TaskRecord, { canAsk = () => true }: TaskOptions): TaskStatus => {
  switch (record.state) {
    case "succeeded":
      return "completed";
    case "failed":
      return record.failure?.kind === "protocol" ? "failed" : "completed";
    case "cancelled":
      return "cancelled";
    case "waiting":
      return openQuestions(record.questions).some(canAsk) ? "input_required" : "working";
    case "queued":
      return record.begunAt === undefined ? "submitted" : "working";
    default:
      return "working";
  }
};

/** Without it nobody who looks would know what the task waits for. */
const toWithheld = (record: TaskRecord, { canAsk = () => true }: TaskOptions): string | undefined => {
  if (record.state !== "waiting") return undefined;
  const withheld = openQuestions(record.questions).filter((question) => !canAsk(question));
  if (withheld.length === 0) return undefined;
  return withheld.map(({ message }) => `waits for an answer that this client cannot give: ${message}`).join("; ");
};
