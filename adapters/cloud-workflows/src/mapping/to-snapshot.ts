import type { ExecutionFailure, ExecutionSnapshot, ExecutionStatus } from "@taskbridge/core/adapter";
import type { Execution, Step } from "../google/client.ts";
import { blankCallbacks } from "./blank-callbacks.ts";
import { toOutput } from "./to-output.ts";
import { toReason } from "./to-reason.ts";

const statuses: Readonly<Record<string, ExecutionStatus>> = {
  QUEUED: "queued",
  ACTIVE: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  CANCELLED: "cancelled",
};

/** Undefined for UNAVAILABLE, and for a state that Google has added since. */
export const toStatus = (state: string): ExecutionStatus | undefined =>
  Object.hasOwn(statuses, state) ? statuses[state] : undefined;

const toFailure = (status: ExecutionStatus, error: Execution["error"]): ExecutionFailure | undefined => {
  if (status !== "failed" && (status !== "cancelled" || error === undefined)) return undefined;
  if (error === undefined) return { kind: "job", reason: "failed without an error" };
  return { kind: "job", ...toReason(error) };
};

const maxSteps = 5;
/** Of a step (characters). */
const maxNameLength = 200;
/** What is read of Google's reason (characters). */
const maxReasonLength = 2_000;

/** Steps as a person reads them: those of `main` by their names alone. Undefined: there is none. */
export const toStepsText = (steps: readonly Step[]): string | undefined => {
  const names = [
    ...new Set(steps.map(({ routine, step }) => (/^(main)?$/.test(routine) ? step : `${routine}.${step}`))),
  ]
    .filter((name) => name !== "")
    .map((name) => blankCallbacks(name.slice(0, maxNameLength)).replaceAll(/[\s\p{Cc}]+/gu, " "));
  if (names.length === 0) return undefined;
  const more = names.length > maxSteps ? ` and ${names.length - maxSteps} more` : "";
  return `${names.slice(0, maxSteps).join(", ")}${more}`;
};

/** Why nothing is known of an execution that Google shows. */
export const unavailableBecause = ({ state, stateError }: Execution): string =>
  state === "UNAVAILABLE"
    ? `Google cannot read the execution at present: ${blankCallbacks(
        (stateError ?? "no reason is given").slice(0, maxReasonLength),
      )
        .replaceAll(/[\s\p{Cc}]+/gu, " ")
        .slice(0, 300)}`
    : `Google tells a state that is not known here: ${state.slice(0, 100)}`;

/** An execution in FULL view as a snapshot, complete when it has ended. Undefined where its state tells nothing. */
export const toSnapshot = (execution: Execution, url: string | undefined): ExecutionSnapshot | undefined => {
  const { state, result, error, startedAt, endedAt, steps } = execution;
  const status = toStatus(state);
  if (status === undefined) return undefined;
  const isEnd = status !== "running" && status !== "queued";
  const failure = toFailure(status, error);
  const message = isEnd ? undefined : toStepsText(steps);
  return {
    status,
    ...(status === "succeeded" && result !== undefined ? { output: toOutput(result) } : {}),
    ...(failure === undefined ? {} : { failure }),
    ...(message === undefined ? {} : { progress: { message } }),
    ...(url === undefined ? {} : { url }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(isEnd && endedAt !== undefined ? { endedAt: Math.max(endedAt, startedAt ?? 0) } : {}),
  };
};
