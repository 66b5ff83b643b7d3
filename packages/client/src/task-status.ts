import type { Members } from "./members.ts";

/** The ways that tasks are told over MCP, newest first. `none`: the call itself is waited for. */
export const wireNames = ["2026-07-28", "2025-11-25", "sep-1686", "none"] as const;
export type WireName = (typeof wireNames)[number];

/** What a call is answered with: `CallToolResult` of the SDKs. */
export interface ToolResult {
  /** Content blocks, as the server sent them. */
  readonly content: readonly Members[];
  readonly structuredContent?: Members;
  /** The tool reports that it failed; why is in `content`. */
  readonly isError?: boolean;
  readonly _meta?: Members;
}

/** What a person is asked. */
export interface Question {
  /** Names it among the questions of its task. */
  readonly key: string;
  readonly message: string;
  /** JSON Schema of the object that `content` of an accepting answer has to be. */
  readonly schema?: Members;
  /** A page where the person acts instead of filling in a form. */
  readonly url?: string;
}

export interface GivenAnswer {
  readonly action: "accept" | "decline" | "cancel";
  /** With `accept` of a form. */
  readonly content?: Members;
}

/** Answers by the keys of their questions. */
export type Answers = Readonly<Record<string, GivenAnswer>>;

/** `unknown` is SEP-1686's: the server cannot say how the task ended. */
export type TaskState = "submitted" | "working" | "input_required" | "completed" | "failed" | "cancelled" | "unknown";

/** How a task stands. Instants are epoch milliseconds. */
export interface TaskStatus {
  readonly taskId: string;
  readonly state: TaskState;
  /** The server's words on it, of a failure too. */
  readonly message?: string;
  /** Those that can be answered by this client; empty where nothing is asked. */
  readonly questions: readonly Question[];
  /** How often the server wants to be asked at most: milliseconds between two looks. */
  readonly pollMs?: number;
  /** How long the server keeps the task: from its creation on 2025-11-25 and 2026-07-28, from its end on SEP-1686. Null: for ever. */
  readonly keepMs?: number | null;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** What the call came to, where the wire tells it with the status. */
  readonly result?: ToolResult;
}

export const isOver = ({ state }: TaskStatus): boolean =>
  state === "completed" || state === "failed" || state === "cancelled" || state === "unknown";
