import { BridgeError, isBridgeError, type StartKey } from "@taskbridge/core/adapter";
import type { ExecutionDetails, SfnClient } from "../aws/client.ts";
import type { Machines } from "../machines.ts";
import { executionArnOf } from "../mapping/execution-arn.ts";
import type { StepFunctionsTarget } from "../settings/parse-target.ts";

/** What AWS shows lags behind what it has started, by seconds (milliseconds, with time to spare). */
export const shownWithinMs = 30_000;

export const isSaying = (error: unknown, awsError: string): boolean =>
  isBridgeError(error) && error.data?.awsError === awsError;

/** The execution that is named after a key. Undefined: AWS does not show it, which lags behind what it has started. */
export const findStarted = async (
  client: SfnClient,
  machines: Machines,
  { key, target }: { readonly key: StartKey; readonly target: StepFunctionsTarget },
  signal: AbortSignal,
): Promise<ExecutionDetails | undefined> => {
  const arn = executionArnOf(await machines.arnOf(target.stateMachine, signal), key);
  try {
    const details = await client.describe(arn, signal);
    if (details.arn === arn) return details;
    throw new BridgeError("bad_response", "what answered states:DescribeExecution names no execution (is it AWS?)");
  } catch (error) {
    if (isSaying(error, "ExecutionDoesNotExist")) return undefined;
    throw error;
  }
};
