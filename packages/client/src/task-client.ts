import { randomUUID } from "node:crypto";
import { wiresOf } from "./choose-wire.ts";
import { TaskClientError } from "./client-error.ts";
import { type Clock, systemClock } from "./clock.ts";
import { openConnection } from "./connection.ts";
import { isMembers, type Members } from "./members.ts";
import { type PendingCall, pendingCall, type ResumeOptions } from "./pending-call.ts";
import type { OnQuestion } from "./question-desk.ts";
import { questionInbox } from "./question-inbox.ts";
import { readWhole, type WholeResult } from "./read-whole.ts";
import type { SdkClient } from "./sdk-client.ts";
import type { Answers, Question, TaskStatus, ToolResult, WireName } from "./task-status.ts";
import { version } from "./version.ts";
import { type TaskWatch, watchTask } from "./watch-task.ts";
import type { Wire } from "./wire.ts";

export interface TaskClientOptions {
  /** Default `auto`: the newest way that server and connection have. */
  readonly wire?: WireName | "auto";
  /**
   * Connects another client, when the server does not know the session any more (it was started anew) or the connection
   * is closed. Tasks outlive both. Without it such a loss ends calls with `session_lost` or `unreachable`.
   */
  readonly reconnect?: () => Promise<SdkClient>;
  /** What 2026-07-28 is told this client is. Default: this package. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** What 2026-07-28 is told that a person can be asked, for calls with `onQuestion`. Default `{ form: {} }`. */
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  /** How long to try again while the server cannot be reached (milliseconds). Default 120,000. */
  readonly patienceMs?: number;
  /** Told once for each time that the server cannot be reached. */
  readonly onTrouble?: (error: TaskClientError) => void;
  /** How long SEP-1686 waits for the notice of a task before looking for it (milliseconds). Default 2,000. */
  readonly noticeMs?: number;
  /** For tests. */
  readonly clock?: Clock;
}

export interface CallOptions extends ResumeOptions {
  /**
   * An ID of the caller's own: at most 128 of `A-Z a-z 0-9 _ . : -`. Calling again with the same ID starts nothing and
   * follows the task that has it. Needs SEP-1686: a legacy connection, and a server that knows it.
   */
  readonly taskId?: string;
  /** How long the server is asked to keep the task and its result (milliseconds); it may keep it shorter. 2026-07-28 has no such wish. */
  readonly keepAliveMs?: number;
  /** Told what the server tells of its progress: `{ progress, total?, message? }`. */
  readonly onProgress?: (progress: Members) => void;
}

/** Long-running tools behind a connected SDK client. Everything asynchronous rejects with `TaskClientError`. */
export interface TaskClient {
  /** How calls without an ID of their own are made. */
  readonly wire: WireName;
  /** Sends the call and returns at once. Throws `invalid_input`, `unsupported`, and `detached` when the signal has fired already; everything later is told by `result()`. */
  beginCall(tool: string, args?: Members, options?: CallOptions): PendingCall;
  /** Goes on with a task, after a timeout, a crash, or in another process. */
  resume(taskId: string, options?: ResumeOptions): PendingCall;
  /** How a task stands. */
  read(taskId: string, signal?: AbortSignal): Promise<TaskStatus>;
  /** Looks at a task again and again. `questions`: those that a server sends are taken and told with the status, for `answer`. */
  watch(taskId: string, options?: { readonly questions?: boolean }): TaskWatch;
  /** The result of a task that is over; `failed` or `cancelled` where it has none, `unsupported` while it goes on. */
  readResult(taskId: string, signal?: AbortSignal): Promise<ToolResult>;
  /** Answers questions by their keys. Resolves with the keys that are not open any more; `refused` when content does not fit. */
  answer(taskId: string, answers: Answers): Promise<readonly string[]>;
  /** Cancels a task by its ID. On SEP-1686 that is `tasks/delete`: the task is gone afterwards. */
  cancel(taskId: string): Promise<void>;
  /** The caller's tasks. Throws `unsupported` on 2026-07-28, which has no list. */
  list(): AsyncIterable<TaskStatus>;
  /** A result in full: a large one is a preview with an address, from which the rest is read. */
  readWhole(result: ToolResult): Promise<WholeResult>;
}

/**
 * Takes a connected `Client` of `@modelcontextprotocol/sdk` 1.32 or `@modelcontextprotocol/client` 2.4. Its own use goes
 * on beside. Throws `invalid_input` for one that is not connected, `unsupported` for a `wire` that it cannot have.
 */
export const taskClient = (client: SdkClient, options: TaskClientOptions = {}): TaskClient => {
  const { wire: wanted = "auto", clock = systemClock, patienceMs = 120_000, noticeMs = 2_000 } = options;
  requireDuration("patienceMs", patienceMs);
  requireDuration("noticeMs", noticeMs);
  const inbox = questionInbox();
  const connection = openConnection(client, {
    patienceMs,
    clock,
    onRequest: inbox.take,
    ...(options.reconnect === undefined ? {} : { reconnect: options.reconnect }),
    ...(options.onTrouble === undefined ? {} : { onTrouble: options.onTrouble }),
  });
  const framing = {
    clientInfo: { ...(options.clientInfo ?? { name: "@taskbridge/client", version }) },
    elicitation: { ...(options.elicitation ?? { form: {} }) },
  };
  const wires = wiresOf({ connection, inbox, framing, clock, noticeMs });
  const usual = wires.choose(wanted, false);

  const begin = (wire: Wire, tool: string, args: Members, call: CallOptions): PendingCall => {
    const { onQuestion, onProgress, keepAliveMs } = call;
    const taskId = call.taskId ?? (wire.name === "sep-1686" ? randomUUID() : undefined);
    const progressToken = randomUUID();
    const stop = connection.onNotification((method, params) => {
      if (method === "notifications/progress" && params["progressToken"] === progressToken)
        onProgress?.(toProgress(params));
    });
    let release = (): void => {};
    const pending = pendingCall(
      { wire, clock, options: call, onFollowed: () => release(), ...(taskId === undefined ? {} : { taskId }) },
      (signal) => {
        const ask = askBefore(onQuestion, taskId, signal);
        release = inbox.await({ ask: onQuestion === undefined ? undefined : ask, expectsTask: wire.name !== "none" });
        return wire.begin({
          tool,
          args,
          ask,
          asks: onQuestion !== undefined,
          meta: onProgress === undefined ? {} : { progressToken },
          ...(taskId === undefined ? {} : { taskId }),
          ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
        });
      },
    );
    pending.result().then(stop, stop);
    return pending;
  };

  return {
    wire: usual.name,
    beginCall: (tool, args = {}, call = {}) => {
      requireCall(tool, args, call);
      if (call.signal?.aborted) throw new TaskClientError("detached", "the signal had fired before the call was sent");
      return begin(call.taskId === undefined ? usual : wires.choose(wanted, true), tool, args, call);
    },
    resume: (taskId, resumed = {}) => {
      if (typeof taskId !== "string" || taskId === "") throw invalid("taskId", "the ID of a task is needed", taskId);
      requireDuration("timeoutMs", resumed.timeoutMs);
      return pendingCall({ wire: usual, clock, taskId, options: resumed }, (signal) => ({
        begun: usual.read(taskId, signal).then((status) => ({ kind: "task", status })),
        cancel: () => usual.cancel(taskId),
      }));
    },
    read: (taskId, signal) => usual.read(taskId, signal),
    watch: (taskId, { questions = false } = {}) => watchTask(usual, taskId, { clock, asks: questions }),
    readResult: async (taskId, signal) => {
      const status = await usual.read(taskId, signal);
      if (isRunning(status)) throw new TaskClientError("unsupported", `the task is ${status.state}`, { taskId });
      return usual.outcome(status, signal);
    },
    answer: (taskId, answers) => usual.answer(taskId, answers),
    cancel: (taskId) => usual.cancel(taskId),
    list: () => usual.list(),
    readWhole: (result) => readWhole(usual.request, result),
  };
};

const isRunning = ({ state }: TaskStatus): boolean =>
  state === "submitted" || state === "working" || state === "input_required";

/** Asks what a tool asks before there is a task. */
const askBefore =
  (onQuestion: OnQuestion | undefined, taskId: string | undefined, signal: AbortSignal) =>
  async (question: Question) => {
    if (onQuestion !== undefined) return onQuestion(question, { signal, taskId });
    throw new TaskClientError("unsupported", `the tool asks, and the call has no onQuestion: ${question.message}`);
  };

const toProgress = ({ progressToken: _token, _meta, ...progress }: Members): Members => progress;

const requireCall = (tool: unknown, args: unknown, { taskId, keepAliveMs, timeoutMs }: CallOptions): void => {
  if (typeof tool !== "string" || tool === "") throw invalid("tool", "a name is needed", tool);
  if (!isMembers(args)) throw invalid("args", "an object is needed", args);
  if (taskId !== undefined) requireId(taskId);
  requireDuration("keepAliveMs", keepAliveMs);
  requireDuration("timeoutMs", timeoutMs);
};

const requireId = (taskId: unknown): void => {
  if (typeof taskId === "string" && /^[A-Za-z0-9_.:-]{1,128}$/.test(taskId)) return;
  throw invalid("taskId", "1 to 128 of A-Z a-z 0-9 _ . : - are needed", taskId);
};

const requireDuration = (name: string, ms: unknown): void => {
  if (ms === undefined || (typeof ms === "number" && Number.isFinite(ms) && ms >= 0)) return;
  throw invalid(name, "milliseconds, 0 or more, are needed", ms);
};

const invalid = (name: string, need: string, got: unknown): TaskClientError =>
  new TaskClientError("invalid_input", `${name}: ${need}, got ${String(JSON.stringify(got)).slice(0, 80)}`);
