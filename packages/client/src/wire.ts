import type { Members } from "./is-object.ts";
import type { Answers, GivenAnswer, Question, Task, WireName } from "./task.ts";
import type { ToolResult } from "./tool-result.ts";

export interface CallRequest {
  readonly tool: string;
  readonly args: Members;
  /** Minted by this side. */
  readonly taskId?: string;
  /** How long to keep the task, asked of the server (milliseconds). */
  readonly keepAliveMs?: number;
  /** Whether questions of the call are answered. */
  readonly asks: boolean;
  /** Answers what is asked before there is a task. Rejects when the call is cancelled meanwhile. */
  ask(question: Question): Promise<GivenAnswer>;
  /** Goes with the call as `_meta`. */
  readonly meta: Members;
}

/** A call that was sent. */
export interface OpenCall {
  /** Resolves as soon as the task can be read, or the call is answered without one. */
  readonly begun: Promise<Begun>;
  /** Resolves when the server has been told. */
  cancel(): Promise<void>;
}

export type Begun =
  | {
      readonly kind: "task";
      readonly task: Task;
      /** The answer of the call itself, on wires that still give it. Rejects when it does not come. */
      readonly answer?: Promise<ToolResult>;
    }
  | { readonly kind: "result"; readonly result: ToolResult };

/** One generation of tasks. Everything rejects with `TaskClientError`. */
export interface Wire {
  readonly name: WireName;
  begin(call: CallRequest): OpenCall;
  read(taskId: string, signal?: AbortSignal): Promise<Task>;
  /** What the call of a task that is over came to. Rejects with `failed` or `cancelled` where that is no result. */
  outcome(task: Task, signal?: AbortSignal): Promise<ToolResult>;
  /** Returns the keys that are not open any more. Rejects with `refused` when the content does not fit. */
  answer(taskId: string, answers: Answers): Promise<readonly string[]>;
  cancel(taskId: string): Promise<void>;
  /** Newest first where the server says so. Rejects with `unsupported` where it does not list. */
  list(): AsyncIterable<Task>;
  /**
   * Calls `wake` when a task has news, where that is cheap: polling goes on beside it. `asks`: the questions that the
   * server sends for this task are taken, and told with its status. Returns how to stop.
   */
  watch(taskId: string, wake: () => void, asks: boolean): () => void;
  /** Any other request on this connection, tried again while the server cannot be reached. */
  request(method: string, params: Members): Promise<Members>;
}
