import type { ToolResult } from "./tool-result.ts";

/** The ways that tasks are told over MCP, newest first. `none`: the call itself is waited for. */
export type WireName = "2026-07-28" | "2025-11-25" | "sep-1686" | "none";

/** What a person is asked. */
export interface Question {
  /** Names it among the questions of its task. */
  readonly key: string;
  readonly message: string;
  /** JSON Schema of the object that `content` of an accepting answer has to be. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** A page where the person acts instead of filling in a form. */
  readonly url?: string;
}

export interface GivenAnswer {
  readonly action: "accept" | "decline" | "cancel";
  /** With `accept` of a form. */
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Answers by the keys of their questions. */
export type Answers = Readonly<Record<string, GivenAnswer>>;

/** The words of MCP. `submitted` and `unknown` are SEP-1686's: not begun yet; the server cannot say how the task ended. */
export type TaskStatus = "submitted" | "working" | "input_required" | "completed" | "failed" | "cancelled" | "unknown";

/** A task as it was last seen. Instants are epoch milliseconds. */
export interface Task {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** The server's words on it, of a failure too. */
  readonly message?: string;
  /** Those that can be answered by this client; empty where nothing is asked. */
  readonly questions: readonly Question[];
  /** How often the server wants to be asked at most: milliseconds between two looks. */
  readonly pollIntervalMs?: number;
  /**
   * How long the server keeps the task (milliseconds): from its creation on 2025-11-25 and 2026-07-28, from its end on
   * SEP-1686. Null: for ever.
   */
  readonly keepAliveMs?: number | null;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** What the call came to, where the wire tells it with the status. */
  readonly result?: ToolResult;
}

/** Whether the task has ended, in whatever way. */
export const isOver = ({ status }: Task): boolean =>
  status === "completed" || status === "failed" || status === "cancelled" || status === "unknown";
