import type { ExecutionProgress, TaskState } from "@taskbridge/core";
import { hideSecretsIn } from "../hide-secrets.ts";
import type { PendingCall, Question, TaskResult, TaskStatus } from "../task-source.ts";
import { questionFields } from "./question-fields.ts";
import { escapeControls, safeLine, safeText } from "./safe-text.ts";
import { shellWord } from "./shell-word.ts";
import { taskCommand } from "./task-command.ts";

// What a job or a server says becomes safe here, piece by piece: the commands we print are to stay as they are.

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
  return text === "" ? undefined : safeText(text);
};

/** Why a task has not started yet, when its start has been tried: `not started yet: connect ECONNREFUSED`. */
export const formatUnstarted = ({ pending = [] }: TaskStatus): string | undefined => {
  const start = pending.find(({ kind }) => kind === "start");
  if (start?.lastError === undefined) return undefined;
  const what = start.mayHaveArrived ? "not known yet whether it was started" : "not started yet";
  return safeText(`${what}: ${start.lastError}`);
};

/** In a few words on one line, why nothing moves, or else how far the task is. */
export const formatStatus = (task: TaskStatus): string | undefined => {
  const status =
    formatUnstarted(task) ??
    (task.missingSince === undefined ? undefined : formatMessage(task)) ??
    formatProgress(task.progress) ??
    formatMessage(task);
  return status === undefined ? undefined : safeLine(status);
};

const formatPending = (call: PendingCall, task: TaskStatus): string => {
  const what = call.kind === "answer" ? `the answer to ${call.questionKey}` : "to be stopped";
  const text = call.kind === "start" ? formatUnstarted(task) : formatUntold(what, call);
  return `${text} (tried ${formatCount(call.attempts, "time")})`;
};

/** Of something that is written down and was not delivered: `the answer to q2 is kept; …`. */
export const formatUntold = (what: string, { lastError }: PendingCall): string =>
  safeText(`${what}: kept; the backend has not been told yet: ${lastError ?? "it does not answer"}`);

/** `1 task`, `2 tasks`. */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** What a task says of itself in words, if anything. */
export const formatMessage = ({ message }: TaskStatus): string | undefined =>
  message === undefined ? undefined : safeText(message);

/** A task as aligned lines for a person. `flags` is how another command reaches it. */
export const formatTask = (task: TaskStatus, flags: string, result?: TaskResult): string => {
  const rows: [string, string | undefined][] = [
    ["task", shellWord(task.taskId)],
    ["tool", task.tool && safeLine(task.tool)],
    ["state", stateWords[task.state]],
    ["progress", formatProgress(task.progress)],
    ["message", task.message === task.failure?.reason ? undefined : formatMessage(task)],
    ...(task.pending ?? [])
      .filter(({ lastError }) => lastError !== undefined)
      .map((call): [string, string] => ["to do", formatPending(call, task)]),
    ["missing", task.missingSince === undefined ? undefined : `since ${formatInstant(task.missingSince)}`],
    ["created", formatInstant(task.createdAt)],
    ["updated", formatInstant(task.updatedAt)],
    ["ended", formatInstant(task.endedAt)],
    ["kept until", formatInstant(task.expiresAt)],
    ["page", task.url && safeLine(task.url)],
    ...task.questions.map((question): [string, string] => ["question", formatQuestion(question, task, flags)]),
    ["failure", formatFailure(task)],
    ["result", result === undefined ? undefined : safeText(formatResult(result))],
  ];
  return rows
    .filter((row): row is [string, string] => row[1] !== undefined && row[1] !== "")
    .map(([name, text]) => `${name.padEnd(11)}${text.trimEnd().replaceAll("\n", `\n${" ".repeat(11)}`)}`)
    .join("\n");
};

/** A question of a task, what it wants, and the command that answers it: by its key where the task asks several. */
export const formatQuestion = (question: Question, { taskId, questions }: TaskStatus, flags: string): string => {
  const key = questions.length > 1 ? `--key ${shellWord(question.key)}` : "";
  const fields = questionFields(question.schema).map(
    ({ name, hint, required }) => `  ${safeLine(`${name}: ${hint}`)}${required ? "" : " (optional)"}`,
  );
  return [
    safeText(question.message),
    ...(question.url === undefined ? [] : [`  ${safeLine(question.url)}`]),
    ...fields,
    `  ${taskCommand("answer", taskId, [flags, key].filter(Boolean).join(" "))}`,
  ].join("\n");
};

export const formatFailure = ({ failure }: TaskStatus): string | undefined => {
  if (failure === undefined) return undefined;
  const code = failure.code === undefined || failure.reason.includes(failure.code) ? "" : ` (${failure.code})`;
  const detail = failure.detail === undefined || failure.detail === "" ? "" : `\n${failure.detail.trimEnd()}`;
  return safeText(`${failure.reason}${code}${detail}`);
};

export const formatResult = ({ text, json }: TaskResult): string =>
  json === undefined ? text : JSON.stringify(json, undefined, 2);

/** A task as one JSON document, the same for every command. */
export const taskDocument = (
  { taskId, tool, state, ...fields }: TaskStatus,
  result?: TaskResult,
): Record<string, unknown> => ({
  taskId,
  tool,
  state,
  ...(hideSecretsIn(fields) as typeof fields),
  createdAt: formatInstant(fields.createdAt),
  updatedAt: formatInstant(fields.updatedAt),
  endedAt: formatInstant(fields.endedAt),
  expiresAt: formatInstant(fields.expiresAt),
  ...(fields.missingSince === undefined ? {} : { missingSince: formatInstant(fields.missingSince) }),
  ...(result === undefined ? {} : { result: hideSecretsIn(result.json ?? result.text) }),
});

/** A JSON document for people and programs; what JSON allows and no terminal should get is escaped, too. */
export const formatDocument = (document: unknown): string => escapeControls(JSON.stringify(document, undefined, 2));

/** The farthest instant that a date can be (epoch milliseconds). */
const farthestInstant = 8.64e15;

/** Undefined also for what a server tells and no calendar has. */
export const formatInstant = (at: number | undefined): string | undefined =>
  at === undefined || !(Math.abs(at) <= farthestInstant) ? undefined : new Date(at).toISOString();
