import { randomUUID } from "node:crypto";
import { wiresOf } from "./choose-wire.ts";
import { isTaskClientError, TaskClientError } from "./client-error.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Connection, openConnection } from "./connection.ts";
import { orAborted } from "./or-aborted.ts";
import { type Opening, type PendingCall, type PendingParts, pendingCall } from "./pending-call.ts";
import { type QuestionInbox, questionInbox } from "./question-inbox.ts";
import { readWhole } from "./read-whole.ts";
import { requireAnswer, requireCall, requireDuration, requireFollowing, requireTaskId } from "./require-call.ts";
import type { SdkClient } from "./sdk-client.ts";
import type { GivenAnswer, Question } from "./task.ts";
import type { CallOptions, TaskClient, TaskClientOptions, ToolProgress } from "./task-client.ts";
import { version } from "./version.ts";
import { toSnapshots, watchTask } from "./watch-task.ts";
import { relatedTaskId } from "./wire/related-task.ts";
import type { CallRequest, Wire } from "./wire.ts";

/**
 * Takes a connected `Client` of `@modelcontextprotocol/sdk` 1.32 or `@modelcontextprotocol/client` 2.4. Its own use goes
 * on beside. Throws `invalid_input` for one that is not connected, `unsupported` for a `wire` that it cannot have.
 */
export const taskClient = (client: SdkClient, options: TaskClientOptions = {}): TaskClient =>
  createTaskClient(client, options, systemClock);

/** A `taskClient` whose time is the caller's, so that tests need not wait for it. */
export const createTaskClient = (client: SdkClient, options: TaskClientOptions, clock: Clock): TaskClient => {
  const { wire: wanted = "auto", retryForMs = 120_000, noticeTimeoutMs = 2_000, reconnect, onUnreachable } = options;
  requireDuration("retryForMs", retryForMs);
  requireDuration("noticeTimeoutMs", noticeTimeoutMs);
  const inbox = questionInbox(relatedTaskId);
  const connection = openConnection(client, {
    retryForMs,
    clock,
    onRequest: inbox.handle,
    ...(reconnect === undefined ? {} : { reconnect }),
    ...(onUnreachable === undefined ? {} : { onUnreachable }),
  });
  const framing = {
    clientInfo: { ...(options.clientInfo ?? { name: "@taskbridge/client", version }) },
    elicitation: { ...(options.elicitation ?? { form: {} }) },
  };
  const wires = wiresOf({ connection, inbox, framing, clock, noticeTimeoutMs });
  const usual = wires.choose(wanted, false);
  const minted = mintedIds();
  /** Tasks that were begun with an ID of the caller's own are spoken of in the way that they were begun. */
  const wireOf = (taskId: string): Wire => (minted.has(taskId) ? wires.choose(wanted, true) : usual);

  const pendingCalls = new Set<PendingCall>();
  const keep = (pending: PendingCall): PendingCall => {
    pendingCalls.add(pending);
    const forget = (): void => void pendingCalls.delete(pending);
    pending.result().then(forget, forget);
    return pending;
  };

  return {
    wire: usual.name,
    beginCall: (tool, args = {}, call = {}) => {
      requireCall(tool, args, call);
      const { taskId = usual.name === "sep-1686" ? randomUUID() : undefined } = call;
      const wire = call.taskId === undefined ? usual : wires.choose(wanted, true);
      if (taskId !== undefined) minted.add(taskId);
      const request = { tool, args, ...(taskId === undefined ? {} : { taskId }) };
      return keep(beginCall({ connection, inbox, wire, clock, options: call }, request));
    },
    resume: (taskId, resumed = {}) => {
      requireTaskId(taskId);
      requireFollowing(resumed);
      const wire = wireOf(taskId);
      return keep(
        pendingCall({ wire, clock, taskId, options: resumed }, ({ ended }) => ({
          begun: wire.read(taskId, ended).then((task) => ({ kind: "task", task })),
          cancel: () => wire.cancel(taskId),
        })),
      );
    },
    read: (taskId, signal) => wireOf(taskId).read(taskId, signal),
    watch: (taskId, { questions = "leave", signal } = {}) => {
      const ending = signal === undefined ? connection.closing : AbortSignal.any([connection.closing, signal]);
      return toSnapshots(watchTask(wireOf(taskId), taskId, { clock, asks: questions === "hold" }), ending);
    },
    answer: (taskId, answers) => wireOf(taskId).answer(taskId, answers),
    list: () => usual.list(),
    readWhole: (result) => readWhole(usual.request, result),
    close: async () => {
      const open = [...pendingCalls];
      for (const pending of open) pending.detach();
      await Promise.allSettled(open.map((pending) => pending.result()));
      await connection.close(new TaskClientError("detached", "the task client is closed"));
    },
  };
};

interface BeginParts extends PendingParts {
  readonly connection: Connection;
  readonly inbox: QuestionInbox;
  readonly options: CallOptions;
}

const beginCall = (
  { connection, inbox, ...parts }: BeginParts,
  request: Pick<CallRequest, "tool" | "args" | "taskId">,
): PendingCall => {
  const { wire, options } = parts;
  const { onQuestion, onProgress, keepAliveMs } = options;
  const { taskId } = request;
  const progressToken = randomUUID();
  let release = (): void => {};
  let stopProgress = (): void => {};
  const pending = pendingCall(
    { ...parts, onQuestionsWithdrawn: () => release(), ...(taskId === undefined ? {} : { taskId }) },
    (opening) => {
      if (onProgress !== undefined) stopProgress = listenForProgress(connection, progressToken, onProgress, opening);
      const ask = askBefore(onQuestion, taskId, opening);
      release = inbox.expect({ ask: onQuestion === undefined ? undefined : ask, expectsTask: wire.name !== "none" });
      return wire.begin({
        ...request,
        ask,
        asks: onQuestion !== undefined,
        meta: onProgress === undefined ? {} : { progressToken },
        ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
      });
    },
  );
  pending.result().then(stopProgress, stopProgress);
  return pending;
};

const listenForProgress = (
  connection: Connection,
  progressToken: string,
  onProgress: NonNullable<CallOptions["onProgress"]>,
  { fail }: Opening,
): (() => void) => {
  const reportProgress = async (progress: ToolProgress): Promise<void> => onProgress(progress);
  return connection.onNotification((method, { progressToken: token, _meta, ...progress }) => {
    if (method !== "notifications/progress" || token !== progressToken) return;
    if (typeof progress["progress"] === "number") reportProgress(progress as unknown as ToolProgress).catch(fail);
  });
};

/** Asks what a tool asks before there is a task. `withdrawn` fires when the server does not want it answered any more. */
const askBefore =
  (onQuestion: CallOptions["onQuestion"], taskId: string | undefined, { ended, cancelled, fail }: Opening) =>
  async (question: Question, withdrawn?: AbortSignal): Promise<GivenAnswer> => {
    if (onQuestion === undefined) {
      throw new TaskClientError("unsupported", `the tool asks, and the call has no onQuestion: ${question.message}`);
    }
    const signal = AbortSignal.any([ended, cancelled, ...(withdrawn === undefined ? [] : [withdrawn])]);
    const answer = async (): Promise<GivenAnswer> => requireAnswer(await onQuestion(question, { signal, taskId }));
    try {
      return await orAborted(answer(), cancelled);
    } catch (error) {
      if (!isTaskClientError(error, "cancelled")) fail(error);
      throw error;
    }
  };

/** Enough for all that a client speaks of at a time; what is older is found under its ID on the newer wire as well. */
const maxMinted = 10_000;

/** IDs of the caller's own, the newest of them. */
const mintedIds = (): { add(taskId: string): void; has(taskId: string): boolean } => {
  const ids = new Set<string>();
  return {
    has: (taskId) => ids.has(taskId),
    add: (taskId) => {
      ids.delete(taskId);
      ids.add(taskId);
      const [oldest] = ids;
      if (ids.size > maxMinted && oldest !== undefined) ids.delete(oldest);
    },
  };
};
