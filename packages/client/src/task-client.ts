import type { TaskClientError } from "./client-error.ts";
import type { Questions } from "./follow-task.ts";
import type { PendingCall, ResumeOptions } from "./pending-call.ts";
import type { WholeResult } from "./read-whole.ts";
import type { SdkClient } from "./sdk-client.ts";
import type { Answers, Task, WireName } from "./task.ts";
import type { ToolResult } from "./tool-result.ts";

export interface TaskClientOptions {
  /** Default `auto`: the newest way that server and connection have. */
  readonly wire?: WireName | "auto";
  /**
   * Connects another client, when the server does not know the session any more (it was started anew) or the connection
   * is closed. Tasks outlive both. The client that is replaced is closed. Without it such a loss ends calls with
   * `session_lost` or `unreachable`.
   */
  readonly reconnect?: () => Promise<SdkClient>;
  /** What 2026-07-28 is told this client is. Default: this package. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** What 2026-07-28 is told that a person can be asked, for calls with `onQuestion`. Default `{ form: {} }`. */
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  /** How long to try again while the server cannot be reached (milliseconds). Default 120,000. */
  readonly retryForMs?: number;
  /** Told once for each time that the server cannot be reached. */
  readonly onUnreachable?: (error: TaskClientError) => void;
  /** How long SEP-1686 waits for the notice that a task is there before looking for it (milliseconds). Default 2,000. */
  readonly noticeTimeoutMs?: number;
}

/** How far a tool has come: `progress` of `total`, in the tool's own unit. */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface CallOptions extends ResumeOptions {
  /**
   * An ID of the caller's own: 1 to 128 of `A-Z a-z 0-9 _ . : -`, not dots alone. Calling again with the same ID starts
   * nothing and follows the task that has it. Needs SEP-1686: a legacy connection, and a server that knows it.
   */
  readonly taskId?: string;
  /** How long the server is asked to keep the task and its result (milliseconds); it may keep it shorter. 2026-07-28 has no such wish. */
  readonly keepAliveMs?: number;
  /**
   * Told what the server tells of the call's progress by notifications. On 2026-07-28 these end with the answer of the
   * call, so that a task tells its progress in `onStatus` alone. What it throws ends the wait, and `result()` rejects with it.
   */
  readonly onProgress?: (progress: ToolProgress) => void | Promise<void>;
}

export interface WatchOptions {
  /** Default `leave`. With `hold`, questions are taken from now on, until the watch is over. */
  readonly questions?: Exclude<Questions, "ask">;
  /** Ends the watch; the look that is waited for rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Long-running tools behind a connected SDK client. Everything asynchronous rejects with `TaskClientError`. */
export interface TaskClient {
  /** How calls without an ID of their own are made. */
  readonly wire: WireName;
  /** Sends the call and returns at once. Throws `invalid_input`, `unsupported`, and `detached` when the signal has fired already; everything later is told by `result()`. */
  beginCall(tool: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): PendingCall;
  /** Goes on with a task, after a timeout, a crash, or in another process. Throws as `beginCall` does. */
  resume(taskId: string, options?: ResumeOptions): PendingCall;
  /** How a task stands now. */
  read(taskId: string, signal?: AbortSignal): Promise<Task>;
  /** How a task stands now, and again when that has changed or the server wants to be asked again, until it is over. */
  watch(taskId: string, options?: WatchOptions): AsyncIterableIterator<Task>;
  /** Answers questions by their keys. Resolves with the keys that are not open any more; rejects with `refused` when content does not fit. */
  answer(taskId: string, answers: Answers): Promise<readonly string[]>;
  /** The caller's tasks. Rejects with `unsupported` on 2026-07-28 and `none`, which have no list. */
  list(): AsyncIterable<Task>;
  /** A result in full: a large one is a preview with an address, from which the rest is read. */
  readWhole(result: ToolResult): Promise<WholeResult>;
  /**
   * Detaches all pending calls, ends all watches, and leaves the SDK's client alone. A client that `reconnect` has given
   * is closed; the one that was passed in is its owner's to close.
   */
  close(): Promise<void>;
}
