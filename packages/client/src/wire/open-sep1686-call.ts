import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Clock } from "../clock.ts";
import { type Connection, isUnavailable } from "../connection.ts";
import { deferred } from "../deferred.ts";
import { invalidParams } from "../rpc-codes.ts";
import type { Task } from "../task.ts";
import type { ToolResult } from "../tool-result.ts";
import type { Begun, OpenCall } from "../wire.ts";
import { type CallSender, callSender, type Sep1686Call } from "./call-sender.ts";
import { afterCancel, isTaskUnknown, notifyCancelled, type Sep1686Parts } from "./cancel-sep1686-call.ts";
import { graceMs } from "./open-task-call.ts";
import { relatedTaskId } from "./related-task.ts";

/** What tells first how the call stands. */
type CallUpdate =
  | { readonly kind: "answer"; readonly result: ToolResult }
  | { readonly kind: "fault"; readonly error: unknown }
  | { readonly kind: "noticed" }
  | { readonly kind: "found"; readonly task: Task }
  /** The server, which knows the draft, has no such task though it should. */
  | { readonly kind: "missing" }
  | { readonly kind: "cancelled" };

/** A call is sent again this many times at most. */
const maxSends = 10;
const maxProbeMs = 30_000;
/** So often the task may be missing before the call is taken for lost. */
const maxMisses = 3;

/**
 * Sends a call with its own task ID and races the notice that the task is there against the answer of the call itself,
 * as the draft describes. A server without tasks sends no notice and its answer wins. Where notice or connection are lost,
 * the task is looked for, and the call sent again with the same ID, which starts nothing twice.
 */
export const openSep1686Call = (parts: Sep1686Parts, call: Sep1686Call): OpenCall => {
  const { connection, clock } = parts;
  const { taskId } = call;
  const over = new AbortController();
  const notice = noticeOf(connection, taskId);
  const sending = callSender(connection, call);
  const cancelled = deferred<void>();
  const settle = settler(parts, taskId, sending);
  const begin = async (): Promise<Begun> => {
    for (let sends = 1; ; sends++) {
      const answer = sending.send();
      const round = new AbortController();
      const probing = AbortSignal.any([round.signal, over.signal]);
      const update = await Promise.race<CallUpdate>([
        // One that was taken for lost may still be answered.
        sending.anyAnswer().then(
          (result): CallUpdate => ({ kind: "answer", result }),
          () => never,
        ),
        answer.then(
          () => never,
          (error: unknown): CallUpdate => ({ kind: "fault", error }),
        ),
        notice.seen.then((): CallUpdate => ({ kind: "noticed" })),
        cancelled.promise.then((): CallUpdate => ({ kind: "cancelled" })),
        search(parts, taskId, probing),
      ]).finally(() => round.abort());
      const outcome = await settle(update);
      if (outcome !== "again") return outcome;
      if (sends === maxSends) {
        throw new TaskClientError("outcome_unknown", `the call was lost ${maxSends} times`, { taskId });
      }
    }
  };
  const begun = begin().finally(() => {
    over.abort();
    notice.stop();
  });
  return {
    begun,
    cancel: async () => {
      // A cancellation that overtakes its call is ignored, so the call is given the time to arrive.
      await Promise.race([begun.catch(() => {}), pause(clock, graceMs, over.signal)]);
      const isOpen = !over.signal.aborted;
      await notifyCancelled(parts, taskId, sending);
      if (isOpen) cancelled.resolve();
    },
  };
};

/** Resolves after a while, or when the signal fires. */
const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => clock.sleep(ms, signal).catch(() => {});

/** What news of a call makes of it. */
const settler = (
  parts: Sep1686Parts,
  taskId: string,
  sending: CallSender,
): ((update: CallUpdate) => Promise<Begun | "again">) => {
  const { requests, wire } = parts;
  const followed = (task: Task): Begun => {
    requests.learn();
    return { kind: "task", task, answer: sending.anyAnswer() };
  };
  const afterNotice = async (): Promise<Begun> => {
    requests.learn();
    try {
      return followed(await wire.read(taskId));
    } catch (error) {
      // It was over and gone at once: what is left is the answer of the call.
      if (!isTaskClientError(error, "not_found")) throw error;
      return { kind: "result", result: await sending.anyAnswer() };
    }
  };
  const afterFault = async (error: unknown): Promise<Begun | "again"> => {
    if (isDuplicate(error)) return followed(await wire.read(taskId));
    const isLost = isTaskClientError(error) && (error.code === "unreachable" || isUnavailable(error));
    if (!isLost) throw error;
    const task = await afterLoss(parts, taskId, error);
    return task === "again" ? task : followed(task);
  };
  return async (update) => {
    switch (update.kind) {
      case "answer":
        return { kind: "result", result: update.result };
      case "found":
        return followed(update.task);
      case "noticed":
        return afterNotice();
      case "cancelled":
        return followed(await afterCancel(parts, taskId, sending));
      case "missing":
        return "again";
      case "fault":
        return afterFault(update.error);
    }
  };
};

const noticeOf = (connection: Connection, taskId: string): { readonly seen: Promise<void>; stop(): void } => {
  const seen = deferred<void>();
  const stop = connection.onNotification((method, params) => {
    if (method !== "notifications/tasks/created" || relatedTaskId(params) !== taskId) return;
    // Out of turn, because an answer that came before it is passed on by more steps.
    setImmediate(seen.resolve);
  });
  return { seen: seen.promise, stop };
};

/** SEP-1686 has no code for this: -32602, and the words of its section on errors. */
const isDuplicate = (error: unknown): boolean =>
  isTaskClientError(error, "refused") &&
  error.rpc?.code === invalidParams &&
  /task id already exists/i.test(error.message);

/**
 * The connection broke before the answer, or the server's store was away: whether the task is there, or may be started again. The look
 * waits for both to be back.
 */
const afterLoss = async (
  { requests, wire }: Sep1686Parts,
  taskId: string,
  lost: TaskClientError,
): Promise<Task | "again"> => {
  try {
    return await wire.read(taskId);
  } catch (error) {
    const isMissing = isTaskClientError(error, "not_found");
    if (isMissing && (await requests.knowsSep1686())) return "again";
    if (!isMissing && !isTaskUnknown(error)) throw error;
  }
  if (lost.notSent || isUnavailable(lost)) throw lost;
  throw new TaskClientError(
    "outcome_unknown",
    `the connection broke before the call was answered, and this server knows no task IDs, so the tool may have run: ${lost.message}`,
    { ...lost, taskId, cause: lost },
  );
};

/**
 * Looks for the task where no notice comes: after a while, and when the connection has trouble. Resolves with what it
 * found; never, where there is nothing to find out.
 */
const search = async (parts: Sep1686Parts, taskId: string, signal: AbortSignal): Promise<CallUpdate> => {
  const { connection, requests, wire, clock, noticeTimeoutMs } = parts;
  let pauseMs = noticeTimeoutMs;
  for (let misses = 0; ; ) {
    const trouble = new AbortController();
    const stop = connection.onTrouble(() => trouble.abort());
    try {
      await clock.sleep(pauseMs, AbortSignal.any([signal, trouble.signal, connection.closing]));
    } catch {
      if (signal.aborted || connection.closing.aborted) return never;
      // What the SDK tells of this very call comes first.
      await new Promise(setImmediate);
      misses = maxMisses;
    } finally {
      stop();
    }
    if (signal.aborted) return never;
    try {
      return { kind: "found", task: await wire.read(taskId, signal) };
    } catch (error) {
      if (signal.aborted) return never;
      // A server without tasks: its answer is all there will be.
      if (isTaskUnknown(error)) return never;
      if (!isTaskClientError(error, "not_found")) throw error;
      misses++;
    }
    if (misses >= maxMisses && (await requests.knowsSep1686().catch(() => false))) return { kind: "missing" };
    pauseMs = Math.min(Math.max(pauseMs, 250) * 2, maxProbeMs);
  }
};

const never = new Promise<never>(() => {});
