import { SpanStatusCode, trace } from "@opentelemetry/api";
import { BridgeError, type BridgeErrorCode, isBridgeError } from "../../contract/bridge-error.ts";
import type { AdapterId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { CallContext, WorkflowAdapter } from "../../contract/workflow-adapter.ts";
import type { EngineContext } from "./engine-context.ts";

/** The adapter of this name. One that the configuration no longer has is `misconfigured`. */
export const requireAdapter = (engine: EngineContext, adapterId: AdapterId): WorkflowAdapter => {
  const adapter = engine.adapters.get(adapterId);
  if (adapter !== undefined) return adapter;
  throw new BridgeError("misconfigured", `adapters.${adapterId}: no such adapter is configured any more`, {
    adapterId,
  });
};

/** A context for one call, for adapters. */
const callContext = (engine: EngineContext, adapterId: AdapterId, signal: AbortSignal): CallContext => ({
  signal,
  now: () => engine.store.now(),
  log: (level, message, fields) => {
    if (level === "debug") return;
    engine.audit({ kind: "adapter_log", adapterId, message, fields: { level, ...fields } });
  },
});

export interface AdapterCall<Result> {
  readonly adapterId: AdapterId;
  readonly operation: string;
  /** Default: `limits.callTimeoutMs`. */
  readonly timeoutMs?: number;
  /** The code when the adapter neither answers nor rejects in time. Default: `unavailable`. */
  readonly onTimeout?: BridgeErrorCode;
  readonly record?: TaskRecord;
  run(adapter: WorkflowAdapter, context: CallContext): Promise<Result>;
  /** Takes a result that came after all, when the call had been given up. */
  applyLate?(result: Result): Promise<void>;
}

/**
 * Makes one call to a backend. Ends by its deadline even when the adapter hangs and ignores its signal; whatever is
 * thrown becomes a `BridgeError` that names adapter and operation. An unclassified error may have come after the backend
 * accepted, so it has code `outcome_unknown`.
 */
export const callAdapter = async <Result>(engine: EngineContext, call: AdapterCall<Result>): Promise<Result> => {
  const adapter = requireAdapter(engine, call.adapterId);
  const deadline = new AbortController();
  if (engine.closing.aborted) deadline.abort(engine.closing.reason);
  const attributes = {
    "taskbridge.adapter": call.adapterId,
    ...(call.record === undefined
      ? {}
      : { "taskbridge.task": call.record.taskId, "taskbridge.execution": call.record.ref ?? "" }),
  };
  return trace.getTracer("taskbridge").startActiveSpan(`taskbridge.${call.operation}`, { attributes }, async (span) => {
    let giveUp: (error: BridgeError) => void = () => {};
    let isGivenUp = false;
    const late = new Promise<never>((_resolve, reject) => {
      giveUp = (error) => {
        isGivenUp = true;
        reject(error);
      };
    });
    const timeoutMs = call.timeoutMs ?? engine.limits.callTimeoutMs;
    const cancelTimer = engine.clock.schedule(timeoutMs, () => {
      giveUp(callError(call, call.onTimeout ?? "unavailable", `no answer within ${timeoutMs} ms`));
      deadline.abort();
    });
    const onClosing = (): void => {
      giveUp(callError(call, "outcome_unknown", "the server is shutting down"));
      deadline.abort(engine.closing.reason);
    };
    // Not `AbortSignal.any`, which leaves a trace of every call in a signal that lives as long as the engine:
    // https://github.com/nodejs/node/issues/54614
    engine.closing.addEventListener("abort", onClosing, { once: true });
    try {
      const running = call.run(adapter, callContext(engine, call.adapterId, deadline.signal));
      running.then(
        (result) => {
          if (isGivenUp && call.applyLate !== undefined && !engine.closing.aborted)
            engine.background(call.applyLate(result));
        },
        () => {},
      );
      return await Promise.race([running, late]);
    } catch (error) {
      const known = toAdapterError(error, call);
      span.recordException(known);
      span.setStatus({ code: SpanStatusCode.ERROR, message: known.code });
      throw known;
    } finally {
      cancelTimer();
      engine.closing.removeEventListener("abort", onClosing);
      span.end();
    }
  });
};

type Called = Pick<AdapterCall<unknown>, "adapterId" | "operation">;

const message = ({ adapterId, operation }: Called, text: string): string => `[${adapterId}.${operation}] ${text}`;

const callError = (call: Called, code: BridgeErrorCode, text: string, cause?: unknown): BridgeError =>
  new BridgeError(code, message(call, text), { adapterId: call.adapterId, operation: call.operation, cause });

const toAdapterError = (error: unknown, call: Called): BridgeError => {
  if (!isBridgeError(error))
    return callError(call, "outcome_unknown", error instanceof Error ? error.message : String(error), error);
  if (error.operation !== undefined && error.adapterId !== undefined) return error;
  return new BridgeError(
    error.code,
    error.message.startsWith("[") ? error.message : message(call, `${error.code}: ${error.message}`),
    {
      adapterId: call.adapterId,
      operation: call.operation,
      notSent: error.notSent,
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
      ...(error.data === undefined ? {} : { data: error.data }),
      cause: error,
    },
  );
};
