import {
  BridgeError,
  type CallContext,
  isBridgeError,
  type StartOutcome,
  type StartRequest,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { SfnClient, StartCall } from "./aws/client.ts";
import type { Machines } from "./machines.ts";
import { consoleUrlOf, executionArnOf, parseExecutionArn, toRef } from "./mapping/execution-arn.ts";
import { toSnapshot } from "./mapping/to-snapshot.ts";
import { misconfigured } from "./settings/misconfigured.ts";
import { qualifiedArn, type StepFunctionsTarget } from "./settings/parse-target.ts";

/** The largest input and output (bytes). */
export const maxPayloadBytes = 262_144;

/** What goes wrong before the start itself is sent may be tried again whatever the start promises. */
const beforeSend = async <Value>(work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (error) {
    const { code, message, retryAfterMs, data } = toBridgeError(error);
    throw new BridgeError(code, message, {
      notSent: true,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(data === undefined ? {} : { data }),
      cause: error,
    });
  }
};

/** The call that a start comes to, once it is known that the machine is of the right type. */
export const prepareStart = async (
  machines: Machines,
  { key, target, input }: StartRequest<StepFunctionsTarget>,
  signal: AbortSignal,
): Promise<StartCall> => {
  const bytes = Buffer.byteLength(input);
  if (bytes > maxPayloadBytes)
    throw new BridgeError("invalid_input", `the input has ${bytes} bytes; Step Functions takes ${maxPayloadBytes}`, {
      notSent: true,
    });
  const { arn } = await beforeSend(machines.resolve(target.stateMachine, signal));
  if (signal.aborted) throw new BridgeError("unavailable", "given up before it was sent", { notSent: true });
  return { machineArn: qualifiedArn(arn, target), name: key, input };
};

const isSaying = (error: unknown, awsError: string): boolean =>
  isBridgeError(error) && error.data?.awsError === awsError;

/** The name is taken: by an earlier send of this start, which may have ended meanwhile, or by something else. */
const adopt = async (
  client: SfnClient,
  call: StartCall,
  machineArn: string,
  signal: AbortSignal,
): Promise<StartOutcome> => {
  const arn = executionArnOf(machineArn, call.name);
  try {
    const details = await client.describe(arn, signal);
    if (details.input !== undefined && details.input !== call.input)
      throw new BridgeError("conflict", `an execution ${call.name} was started with another input`);
    const snapshot = toSnapshot(details);
    return { ref: toRef(arn), ...(snapshot === undefined ? {} : { snapshot }) };
  } catch (error) {
    // What is described lags behind what was started.
    if (!isSaying(error, "ExecutionDoesNotExist")) throw error;
    const message = "AWS has the execution, and does not show it yet";
    throw new BridgeError("outcome_unknown", message, { retryAfterMs: 1_000, cause: error });
  }
};

/** Starts an execution that is named after the key. Sent again, it finds the one that is there. */
export const startExecution = async (
  client: SfnClient,
  machines: Machines,
  request: StartRequest<StepFunctionsTarget>,
  { signal }: CallContext,
): Promise<StartOutcome> => {
  const call = await prepareStart(machines, request, signal);
  try {
    const { arn, startedAt } = await client.start(call, signal);
    if (parseExecutionArn(arn) === undefined)
      throw misconfigured("stateMachine", `was replaced by an Express state machine, which cannot be followed: ${arn}`);
    return { ref: toRef(arn), snapshot: { status: "running", startedAt, url: consoleUrlOf(arn) } };
  } catch (error) {
    if (!isSaying(error, "ExecutionAlreadyExists")) throw error;
    const { arn } = await machines.resolve(request.target.stateMachine, signal);
    return adopt(client, call, arn, signal);
  }
};
