import {
  type ExecutionFailure,
  type ExecutionProgress,
  type ExecutionQuestion,
  type ExecutionSnapshot,
  isObject,
} from "@taskbridge/core/adapter";
import type { JobRow } from "../redis/client.ts";
import { parseProgress, parseQuestion } from "./parse-progress.ts";
import { toLine } from "./to-line.ts";
import { toOutput, toStream } from "./to-output.ts";

/** What is known of a job beside itself. */
export interface JobContext {
  readonly isPaused: boolean;
  /** Workers of its queue; undefined when nobody has counted them. */
  readonly workers?: number | undefined;
}

export const parseOpts = (opts: string | undefined): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(opts ?? "{}");
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

/** One line for a person. */
const toReason = (text: string | undefined, fallback: string): string =>
  toLine(text?.trim().split("\n", 1)[0] ?? "") || fallback;

const parseStacks = (stacktrace: string | undefined): readonly unknown[] => {
  try {
    const stacks: unknown = JSON.parse(stacktrace ?? "[]");
    return Array.isArray(stacks) ? stacks : [];
  } catch {
    return [];
  }
};

/** The stack of the last failure. Not part of the snapshot, which models read. */
export const lastStack = (row: JobRow): string | undefined => {
  const stack = parseStacks(row.stacktrace).at(-1);
  return typeof stack === "string" ? stack : undefined;
};

export const toFailure = (failedReason: string | undefined, stack: string | undefined): ExecutionFailure => {
  const code = /^(\w+):/.exec(stack ?? "")?.[1];
  return {
    kind: "job",
    reason: toReason(failedReason, "the job failed without a reason"),
    ...(code === undefined || code === "Error" ? {} : { code }),
  };
};

/** Which of its attempts a job is at, unless it has but one. */
const attemptText = ({ attemptsMade, opts, state }: JobRow): string | undefined => {
  const attempts = Number(parseOpts(opts).attempts);
  if (!(attempts > 1) || attemptsMade === 0) return undefined;
  return `attempt ${Math.min(attemptsMade + 1, attempts)} of ${attempts}${state === "active" ? "" : " to come"}`;
};

const questionOf = ({ question, progress }: JobRow): ExecutionQuestion | undefined =>
  parseQuestion(question) ?? parseProgress(progress).question;

const waitText = (row: JobRow, { isPaused, workers }: JobContext): string | undefined => {
  const { state, dueAt, cancelReason, answered } = row;
  if (cancelReason !== undefined) return "is being removed";
  // It is promoted next: the deadline of the question says nothing any more.
  if (state === "delayed" && answered !== undefined && questionOf(row)?.id === answered)
    return "answered, about to go on";
  if (state === "delayed") return dueAt === undefined ? undefined : `delayed until ${new Date(dueAt).toISOString()}`;
  if (isPaused) return "the queue is paused";
  if (workers === undefined) return undefined;
  return workers === 0 ? "no worker is connected to the queue" : `waits for one of ${workers} connected workers`;
};

const toProgress = (row: JobRow, context: JobContext): ExecutionProgress | undefined => {
  const { done, failed, pending } = row.children;
  const total = done + failed + pending;
  const own = parseProgress(row.progress).progress;
  const counted = total > 0 && (row.state === "waiting-children" || own?.done === undefined);
  const base: ExecutionProgress = { ...own, ...(counted ? { done: done + failed, total } : {}) };
  const isQueued = row.state === "waiting" || row.state === "delayed";
  const reported = [base.message, attemptText(row), isQueued ? waitText(row, context) : undefined];
  const message = reported.filter((part) => part !== undefined).join("; ");
  const progress = { ...base, ...(message === "" ? {} : { message }) };
  return Object.keys(progress).length === 0 ? undefined : progress;
};

const times = ({ state, processedOn, finishedOn }: JobRow): Pick<ExecutionSnapshot, "startedAt" | "endedAt"> => {
  const endedAt = state === "completed" || state === "failed" ? finishedOn : undefined;
  return {
    // By the clocks of two machines, perhaps.
    ...(processedOn === undefined ? {} : { startedAt: Math.min(processedOn, endedAt ?? processedOn) }),
    ...(endedAt === undefined ? {} : { endedAt }),
  };
};

const toEnd = (row: JobRow): ExecutionSnapshot => {
  const { progress } = parseProgress(row.progress);
  const base = { ...(progress === undefined ? {} : { progress }), questions: [], ...times(row) };
  if (row.state === "completed") {
    const output =
      row.returnvalue === undefined && row.returnBytes > 0
        ? toStream(row.returnBytes)
        : toOutput(row.returnvalue ?? "");
    return { status: "succeeded", ...base, ...(output === undefined ? {} : { output }) };
  }
  const failure = toFailure(row.failedReason, lastStack(row));
  return { status: row.cancelReason === undefined ? "failed" : "cancelled", ...base, failure };
};

/** A job that is there. Question and progress come with every look, children when they were read. */
export const toSnapshot = (row: JobRow, context: JobContext): ExecutionSnapshot => {
  if (row.state === "gone")
    return {
      status: "cancelled",
      failure: { kind: "job", reason: toReason(row.goneReason, "cancelled") },
      questions: [],
    };
  if (row.state === "completed" || row.state === "failed") return toEnd(row);
  const question = questionOf(row);
  const isAsked = row.state === "delayed" && question !== undefined && question.id !== row.answered;
  const isRunning = row.state === "active" || row.state === "waiting-children";
  const progress = isAsked ? parseProgress(row.progress).progress : toProgress(row, context);
  return {
    status: isAsked ? "waiting" : isRunning ? "running" : "queued",
    ...(progress === undefined ? {} : { progress }),
    questions: isAsked ? [question] : [],
    ...times(row),
  };
};
