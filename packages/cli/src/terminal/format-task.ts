import type { ExecutionProgress, TaskState } from "@taskbridge/core";
import type { Question, TaskResult, TaskStatus } from "../task-source.ts";
import { questionFields } from "./question-fields.ts";

export const stateWords: Readonly<Record<TaskState, string>> = {
  queued: "queued",
  running: "running",
  waiting: "waiting for an answer",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/** `3/10 frame 3`, or undefined when nothing is known. */
export const formatProgress = (progress: ExecutionProgress | undefined): string | undefined => {
  const { done, total, message } = progress ?? {};
  const count = done === undefined ? undefined : total === undefined ? String(done) : `${done}/${total}`;
  const text = [count, message].filter((part) => part !== undefined && part !== "").join(" ");
  return text === "" ? undefined : text;
};

/** A task as aligned lines for a person. `flags` is how another command reaches it. */
export const formatTask = (task: TaskStatus, flags: string, result?: TaskResult): string => {
  const rows: [string, string | undefined][] = [
    ["task", task.taskId],
    ["tool", task.tool],
    ["state", stateWords[task.state]],
    ["progress", formatProgress(task.progress)],
    ["message", task.message === task.failure?.reason ? undefined : task.message],
    ["created", formatInstant(task.createdAt)],
    ["updated", formatInstant(task.updatedAt)],
    ["ended", formatInstant(task.endedAt)],
    ["kept until", formatInstant(task.expiresAt)],
    ["page", task.url],
    ...task.questions.map((question): [string, string] => ["question", formatQuestion(question, task.taskId, flags)]),
    ["failure", formatFailure(task)],
    ["result", result === undefined ? undefined : formatResult(result)],
  ];
  return rows
    .filter((row): row is [string, string] => row[1] !== undefined && row[1] !== "")
    .map(([name, text]) => `${name.padEnd(11)}${text.trimEnd().replaceAll("\n", `\n${" ".repeat(11)}`)}`)
    .join("\n");
};

/** A question, what it wants, and the command that answers it. */
export const formatQuestion = (question: Question, taskId: string, flags: string): string => {
  const fields = questionFields(question.schema).map(
    ({ name, hint, required }) => `  ${name}: ${hint}${required ? "" : " (optional)"}`,
  );
  return [
    question.message,
    ...(question.url === undefined ? [] : [`  ${question.url}`]),
    ...fields,
    `  taskbridge tasks answer ${taskId} ${flags}`,
  ].join("\n");
};

export const formatFailure = ({ failure }: TaskStatus): string | undefined => {
  if (failure === undefined) return undefined;
  const code = failure.code === undefined || failure.reason.includes(failure.code) ? "" : ` (${failure.code})`;
  const detail = failure.detail === undefined || failure.detail === "" ? "" : `\n${failure.detail.trimEnd()}`;
  return `${failure.reason}${code}${detail}`;
};

export const formatResult = ({ text, json }: TaskResult): string =>
  json === undefined ? text : JSON.stringify(json, undefined, 2);

/** A task as one JSON document, the same for every command. */
export const taskDocument = (task: TaskStatus, result?: TaskResult): Record<string, unknown> => ({
  ...task,
  createdAt: formatInstant(task.createdAt),
  updatedAt: formatInstant(task.updatedAt),
  endedAt: formatInstant(task.endedAt),
  expiresAt: formatInstant(task.expiresAt),
  ...(result === undefined ? {} : { result: result.json ?? result.text }),
});

export const formatInstant = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();
