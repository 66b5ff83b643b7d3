import type { ExecutionProgress, GivenAnswer, JsonObject, JsonValue, TaskState } from "@taskbridge/core";

/** A question as a person is asked it. */
export interface Question {
  readonly key: string;
  readonly message: string;
  readonly schema?: JsonObject;
  /** A page where the person acts instead. */
  readonly url?: string;
  /** The backend's own name for it, where it is known. */
  readonly questionId?: string;
  /** How often it is asked again when it is dismissed, where that is known. */
  readonly reasksLeft?: number;
}

/** What the backend has still to be told about a task. */
export interface PendingCall {
  readonly kind: "start" | "answer" | "cancel";
  /** Of an answer: what it answers. */
  readonly questionKey?: string;
  /** Tries so far, with one that is under way. */
  readonly attempts: number;
  /** Why the last try failed. Absent: none has. */
  readonly lastError?: string;
  /** Of a start: whether an earlier try may have arrived. */
  readonly mayHaveArrived?: boolean;
}

export type Answers = Readonly<Record<string, GivenAnswer>>;

/** What a finished task produced: `json` beside the text when it is JSON. */
export interface TaskResult {
  readonly text: string;
  readonly json?: JsonValue;
}

/** A task as the commands show it, wherever it was read. Instants are epoch milliseconds. */
export interface TaskStatus {
  readonly taskId: string;
  /** Unknown to a client that only holds the ID. */
  readonly tool?: string;
  readonly state: TaskState;
  readonly message?: string;
  readonly progress?: ExecutionProgress;
  readonly questions: readonly Question[];
  /** What is on its way to the backend, where this is known. */
  readonly pending?: readonly PendingCall[];
  /** Since when the backend does not know the execution; the message then tells more, and is newer than the progress. */
  readonly missingSince?: number;
  readonly failure?: { readonly reason: string; readonly code?: string; readonly detail?: string };
  /** The size of the result in bytes, where it is known apart from the result. */
  readonly resultBytes?: number;
  /** The backend's own page. */
  readonly url?: string;
  /** Not told on every wire. */
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly endedAt?: number;
  readonly expiresAt?: number;
}

export type CallOutcome =
  | { readonly kind: "task"; readonly task: TaskStatus }
  /** The server answered without a task. */
  | { readonly kind: "result"; readonly result: TaskResult; readonly failed: boolean };

export interface CallOptions {
  /** Answers what is asked before a task exists. */
  ask(questions: readonly Question[]): Promise<Answers>;
  readonly signal: AbortSignal;
  /** Told, in a line for a person, what is waited for although the signal has fired. */
  report?(line: string): void;
}

/** What the commands need of tasks: an engine in this process, or a server elsewhere. */
export interface TaskSource {
  /** `--config F` or `--url U`, and the wire where it matters: how another command reaches the same tasks. */
  readonly flags: string;
  /** How the server is spoken to, where there is one. */
  readonly wire?: string;
  /** Who can answer what a task asks: any command, or only one that follows it, where the server puts its questions itself. */
  readonly answeredBy: "command" | "follower";
  callTool(tool: string, input: JsonObject, options: CallOptions): Promise<CallOutcome>;
  readTask(taskId: string): Promise<TaskStatus>;
  /** Resolves when the task is worth showing again: changed, or a poll interval later. Rejects when the signal fires. */
  nextStatus(previous: TaskStatus, signal: AbortSignal): Promise<TaskStatus>;
  /** The whole result of a task that has succeeded. */
  readResult(task: TaskStatus): Promise<TaskResult>;
  /** Returns the keys that were not open any more. */
  answerTask(taskId: string, answers: Answers): Promise<readonly string[]>;
  cancelTask(taskId: string): Promise<TaskStatus>;
  /** Newest first. Rejects with a usage error where nothing can be listed. */
  listTasks(): AsyncIterable<TaskStatus>;
  /** Resolves once what was begun has been carried out. */
  close(): Promise<void>;
}

export const isOver = ({ state }: TaskStatus): boolean =>
  state === "succeeded" || state === "failed" || state === "cancelled";
