import { BridgeError, type StartRequest, toBridgeError } from "@taskbridge/core/adapter";
import type { StartCall } from "../aws/client.ts";
import type { Machines } from "../machines.ts";
import { qualifiedArn, type StepFunctionsTarget } from "../settings/parse-target.ts";

/** The largest input and output (bytes). */
export const maxPayloadBytes = 262_144;

/** What goes wrong before this send may be tried again whatever the start promises. Of earlier sends it says nothing. */
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
