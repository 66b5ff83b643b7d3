import type { ExecutionFailure, ExecutionSnapshot, ExecutionStatus } from "@taskbridge/core/adapter";
import type { ExecutionDetails } from "../aws/client.ts";
import { consoleUrlOf } from "./execution-arn.ts";
import { toOutput } from "./to-output.ts";
import { toLine, toReason } from "./to-reason.ts";

const statuses: Readonly<Record<string, ExecutionStatus>> = {
  RUNNING: "running",
  // A child of a distributed Map, whose parent is about to run it again.
  PENDING_REDRIVE: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  TIMED_OUT: "failed",
  ABORTED: "cancelled",
};

/** Undefined for a status that AWS has added since. */
export const toStatus = (status: string): ExecutionStatus | undefined =>
  Object.hasOwn(statuses, status) ? statuses[status] : undefined;

/** A machine's own `TimeoutSeconds` ends it without error or cause; a state's is a failure with the error `States.Timeout`. */
const ofMachine = { error: "States.Timeout", cause: "the state machine's TimeoutSeconds have passed" };

const toFailure = ({ status, error, cause }: ExecutionDetails): ExecutionFailure | undefined => {
  const reported =
    status === "TIMED_OUT" ? { error: error ?? ofMachine.error, cause: cause ?? ofMachine.cause } : { error, cause };
  if (status === "ABORTED" && reported.error === undefined && reported.cause === undefined) return undefined;
  const { reason, detail } = toReason(reported.error, reported.cause);
  return {
    kind: "job",
    reason,
    ...(reported.error === undefined ? {} : { code: toLine(reported.error) }),
    ...(detail === undefined ? {} : { detail }),
  };
};

/** An execution as AWS describes it, complete when it has ended. Undefined for a status that is not known here. */
export const toSnapshot = (details: ExecutionDetails): ExecutionSnapshot | undefined => {
  const status = toStatus(details.status);
  if (status === undefined) return undefined;
  const isEnd = status !== "running";
  const failure = status === "failed" || status === "cancelled" ? toFailure(details) : undefined;
  return {
    status,
    ...(status === "succeeded" && details.output !== undefined ? { output: toOutput(details.output) } : {}),
    ...(failure === undefined ? {} : { failure }),
    url: consoleUrlOf(details.arn),
    ...(details.startedAt > 0 ? { startedAt: details.startedAt } : {}),
    ...(isEnd && details.endedAt !== undefined ? { endedAt: Math.max(details.endedAt, details.startedAt) } : {}),
  };
};
