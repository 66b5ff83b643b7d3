import {
  BridgeError,
  type CallContext,
  misconfigured,
  retryability,
  type StartOutcome,
  type StartRequest,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { ExecutionDetails, SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import type { Machines } from "../machines.ts";
import { consoleUrlOf, parseExecutionArn, toRef } from "../mapping/execution-arn.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";
import type { StepFunctionsTarget } from "../settings/parse-target.ts";
import { findStarted, isSaying, shownWithinMs } from "./find-started.ts";
import { prepareStart } from "./prepare-start.ts";
import { toMissing } from "./to-missing.ts";

export interface StartTools {
  readonly client: SfnClient;
  readonly machines: Machines;
  readonly quotas: (arn: string) => Quotas;
}

/** How long a description waits for its turn (milliseconds). */
const describeWithinMs = 5_000;
/** Before AWS is asked again whether it shows an execution (milliseconds). */
const showPauseMs = 1_000;

const send = async (
  { client, machines }: StartTools,
  request: StartRequest<StepFunctionsTarget>,
  signal: AbortSignal,
): Promise<StartOutcome> => {
  const call = await prepareStart(machines, request, signal);
  const { arn, startedAt } = await client.start(call, signal).catch((error: unknown) => {
    throw toMissing(error, request.target);
  });
  if (arn.includes(":express:"))
    throw misconfigured("stateMachine", `was replaced by an Express state machine, which cannot be followed: ${arn}`);
  if (parseExecutionArn(arn) === undefined)
    throw new BridgeError("outcome_unknown", "what answered states:StartExecution names no execution (is it AWS?)");
  return { ref: toRef(arn), snapshot: { status: "running", startedAt, url: consoleUrlOf(arn) } };
};

const adopt = (details: ExecutionDetails, { key, input }: StartRequest<StepFunctionsTarget>): StartOutcome => {
  if (details.input !== undefined && details.input !== input)
    throw new BridgeError("conflict", `an execution ${key} was started with another input`);
  const snapshot = toSnapshot(details);
  return { ref: toRef(details.arn), ...(snapshot === undefined ? {} : { snapshot }) };
};

/** What a start that has failed comes to when nothing is seen of an execution. `why`: what else is known of that. */
const toVerdict = (failure: BridgeError, why: string, retryAfterMs = showPauseMs): BridgeError =>
  retryability[failure.code] === "never"
    ? new BridgeError("outcome_unknown", `${why}: ${failure.message}`, { retryAfterMs, cause: failure })
    : failure;

/**
 * After a failure of a start of which an earlier send may have arrived: a refusal of this one (its machine is being deleted, a policy was
 * changed) says nothing about that, and an execution that runs must not be given up for it. So its name decides.
 */
const settle = async (
  { client, machines, quotas }: StartTools,
  request: StartRequest<StepFunctionsTarget>,
  failure: BridgeError,
  { signal, now }: CallContext,
): Promise<StartOutcome> => {
  const hasName = isSaying(failure, "ExecutionAlreadyExists");
  let found: ExecutionDetails | undefined;
  try {
    const arn = await machines.arnOf(request.target.stateMachine, signal);
    if (!(await quotas(arn).describe.take(describeWithinMs, signal)))
      throw new BridgeError("throttled", "the account's rate of states:DescribeExecution does not suffice");
    found = await findStarted(client, machines, request, signal);
  } catch (error) {
    const { message, retryAfterMs } = toBridgeError(error);
    throw toVerdict(failure, `whether it was started before cannot be told (${message})`, retryAfterMs);
  }
  if (found !== undefined) return adopt(found, request);
  if (hasName) throw toVerdict(failure, "AWS has the execution, and does not show it yet");
  if (now() - (request.firstSentAt ?? 0) >= shownWithinMs) throw failure;
  throw toVerdict(failure, "AWS shows no execution (yet) of an earlier send, and takes no other");
};

/** Starts an execution that is named after the key. Sent again, it finds the one that is there. */
export const startExecution = async (
  tools: StartTools,
  request: StartRequest<StepFunctionsTarget>,
  context: CallContext,
): Promise<StartOutcome> => {
  try {
    return await send(tools, request, context.signal);
  } catch (error) {
    const failure = toBridgeError(error);
    const mayBeThere = request.firstSentAt !== undefined || isSaying(failure, "ExecutionAlreadyExists");
    if (!mayBeThere || context.signal.aborted) throw failure;
    return settle(tools, request, failure, context);
  }
};
