import { type BridgeError, toBridgeError } from "../../contract/bridge-error.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { callAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { callMs } from "../state/effects.ts";

/** Whether a backend keeps something for a task that it is to release. */
export const isKeptByBackend = (engine: EngineContext, { ref, adapterId }: TaskRecord): boolean =>
  ref !== undefined && engine.adapters.get(adapterId)?.forget !== undefined;

/** Lets the backend release what it keeps for a task, if it does. Resolves with the error where it has not. May be repeated. */
export const forgetExecution = async (engine: EngineContext, record: TaskRecord): Promise<BridgeError | undefined> => {
  const { ref, adapterId } = record;
  if (ref === undefined || !isKeptByBackend(engine, record)) return undefined;
  try {
    await callAdapter(engine, {
      adapterId,
      operation: "forget",
      timeoutMs: callMs("forget", engine.limits.callTimeoutMs),
      record,
      run: async (used, context) => used.forget?.(ref, context),
    });
    return undefined;
  } catch (error) {
    return toBridgeError(error);
  }
};
