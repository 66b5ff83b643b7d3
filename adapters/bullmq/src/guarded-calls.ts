import { BridgeError, type CallContext, type ExecutionRef, isBridgeError, withSignal } from "@taskbridge/core/adapter";
import { type JobLocation, parseRef } from "./execution-ref.ts";
import { type ErrorDetails, toError, toFinding } from "./mapping/to-error.ts";
import type { BullmqClient, QueuePort } from "./redis/client.ts";
import { type CallState, clientOfCall } from "./redis/client-of-call.ts";

/** What is done, and what it is when it was given up after something of it had left. */
export type Verb = Pick<ErrorDetails, "operation" | "ifSent">;

export const changes = (operation: string): Verb => ({ operation, ifSent: "outcome_unknown" });
export const reads = (operation: string): Verb => ({ operation, ifSent: "unavailable" });

/** What one call works with. */
export interface JobCall {
  readonly client: BullmqClient;
  readonly queue: QueuePort;
  readonly location: JobLocation;
}

export interface GuardedCalls {
  /** Gives up with the context's signal, and turns what Redis says into the contract's errors. */
  guarded<Value>(verb: Verb, context: CallContext, work: (client: BullmqClient) => Promise<Value>): Promise<Value>;
  /** The same for one operation on a job, once its queue is there to be asked. */
  onJob<Value>(
    verb: Verb,
    ref: ExecutionRef,
    context: CallContext,
    work: (call: JobCall) => Promise<Value>,
  ): Promise<Value>;
}

export const guardedCalls = (client: BullmqClient, isClosed: () => boolean): GuardedCalls => {
  const guarded: GuardedCalls["guarded"] = async ({ operation, ifSent }, { signal, log }, work) => {
    if (isClosed()) throw new BridgeError("unavailable", "the adapter is closed", { operation, notSent: true });
    const state: CallState = { wasSent: false, hasChanged: false };
    try {
      return await withSignal(signal, () => work(clientOfCall(client, signal, state)));
    } catch (error) {
      if (!isBridgeError(error)) log("warn", `${operation}: ${toFinding(error, client.address)}`);
      throw toError(error, { operation, ifSent, ...state });
    }
  };
  return {
    guarded,
    onJob: (verb, ref, context, work) =>
      guarded(verb, context, async (ofCall) => {
        const location = parseRef(ref);
        return work({ client: ofCall, queue: await ofCall.open(location), location });
      }),
  };
};
