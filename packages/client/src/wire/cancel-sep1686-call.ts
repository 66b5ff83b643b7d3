import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Clock } from "../clock.ts";
import type { Connection } from "../connection.ts";
import { invalidParams, methodNotFound } from "../rpc-codes.ts";
import { isOver, type Task } from "../task.ts";
import type { Wire } from "../wire.ts";
import type { CallSender } from "./call-sender.ts";
import { relatedMeta } from "./related-task.ts";
import type { Sep1686Requests } from "./sep1686-requests.ts";

export interface Sep1686Parts {
  readonly connection: Connection;
  readonly requests: Sep1686Requests;
  readonly wire: Pick<Wire, "read" | "cancel">;
  readonly clock: Clock;
  readonly noticeTimeoutMs: number;
}

/** The ID of a request means something in its session only; elsewhere, and where that is lost, the task can be deleted. */
export const notifyCancelled = async (
  { connection, wire }: Sep1686Parts,
  taskId: string,
  sending: CallSender,
): Promise<void> => {
  const { session, requestId } = sending.last();
  if (session !== connection.session() || requestId === "") return wire.cancel(taskId);
  const params = { requestId, reason: "cancelled by the caller", _meta: relatedMeta(taskId) };
  try {
    await connection.notify("notifications/cancelled", params);
  } catch {
    // Whatever the reason is, it is told if this fails as well.
    await wire.cancel(taskId);
  }
};

/** Between two looks whether a cancellation was heard (milliseconds). */
const checkPausesMs = [0, 100, 200, 400, 800, 1_600];

/**
 * Nobody answers a request that was cancelled, so the task tells, where there is one. A cancellation that came before its
 * call was ignored: so it is told again when the task turns up, and at last the task is deleted.
 */
export const afterCancel = async (parts: Sep1686Parts, taskId: string, sending: CallSender): Promise<Task> => {
  const { wire, clock, connection } = parts;
  let isRunning = false;
  for (const pauseMs of checkPausesMs) {
    if (pauseMs > 0) await clock.sleep(pauseMs, connection.closing);
    const task = await wire.read(taskId).catch((error: unknown) => {
      if (isTaskClientError(error, "not_found")) return "missing" as const;
      if (isTaskUnknown(error)) return "unknown" as const;
      throw error;
    });
    if (typeof task === "object" && isOver(task)) return task;
    const isGone = isRunning && task === "missing";
    isRunning = typeof task === "object";
    if (isGone || task === "unknown") break;
    if (isRunning) await notifyCancelled(parts, taskId, sending);
  }
  sending.giveUp();
  if (isRunning) await wire.cancel(taskId);
  throw new TaskClientError("cancelled", "the call was cancelled", { taskId });
};

/** The server knows no tasks. One without them may refuse their methods as it does wrong parameters. */
export const isTaskUnknown = (error: unknown): boolean =>
  isTaskClientError(error, "refused") && (error.rpc?.code === methodNotFound || error.rpc?.code === invalidParams);
