import type { TaskRecord } from "../../contract/task-record.ts";
import type { StartPromise } from "../../contract/workflow-adapter.ts";
import { callMs, claimMs } from "../state/effects.ts";

type Sent = Pick<TaskRecord, "start" | "createdAt">;

/**
 * When the last send of a start is over for certain (epoch milliseconds): as its sender told, or, where that was killed, when one that
 * began as its claim lapsed would be.
 */
export const lastOverAt = ({ start, createdAt }: Sent, callTimeoutMs: number): number =>
  start.lastOverAt ??
  (start.lastSentAt ?? createdAt) + claimMs("start", callTimeoutMs) + callMs("start", callTimeoutMs);

/** From when on a start that is not found has not arrived (epoch milliseconds): the backend takes its time to show it. */
export const settledAt = (sent: Sent, promise: StartPromise, callTimeoutMs: number): number => {
  const settleMs = promise.kind === "at-most-once" ? undefined : promise.settleMs;
  return lastOverAt(sent, callTimeoutMs) + (settleMs ?? callTimeoutMs);
};
