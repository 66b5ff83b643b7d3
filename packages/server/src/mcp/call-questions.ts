import type { Result } from "@modelcontextprotocol/server";
import type { TaskQuestion, TaskView } from "@taskbridge/core";

/** How the questions of a task reach the user of whoever waits for it, if they do. */
export interface CallQuestions {
  /** As requests beside the call, while it waits: clients of the 2025 revisions. */
  readonly beside?: QuestionsDuringCall;
  /** As the answer of the call, which is then repeated with what the user has said: 2026-07-28. */
  readonly asAnswer?: QuestionsAsAnswer;
}

export interface QuestionsDuringCall {
  /** Begins to put what this task asks. */
  open(taskId: string): OpenDialogs;
  /** Whether the client is asked this question. */
  isPut(taskId: string, question: TaskQuestion): boolean;
}

export interface OpenDialogs {
  /** The task is in this state: what it asks is put to the user, unless that was done already. */
  observe(view: TaskView): void;
  /** The call is answered. What was put stays to be answered. */
  close(): void;
}

export interface QuestionsAsAnswer {
  /** Whether the caller can be asked this question at all. */
  isDeclared(question: TaskQuestion): boolean;
  /** Whether the caller is to be asked this question now. */
  isAskable(question: TaskQuestion): boolean;
  /** The answer that asks. */
  ask(view: TaskView, questions: readonly TaskQuestion[]): Promise<Result>;
  /**
   * The task that an earlier round of this call is about, with what the user has said handed in. Undefined: this is the
   * first round. `answer`: what to answer instead. Rejects with a `ProtocolError` for a state that is not of this call, and
   * for responses that do not fit. Starts nothing.
   */
  resume(): Promise<Resumed | { readonly answer: Result } | undefined>;
}

/** What a state is bound to, beside its owner. */
export interface RepeatedCall {
  readonly tool: string;
  readonly args: unknown;
}

export interface Resumed {
  readonly view: TaskView;
  /** Open questions that are not put again in this round: their page was opened, or the user has just dismissed them. */
  readonly settled: ReadonlySet<string>;
}
