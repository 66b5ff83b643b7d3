import { BridgeError } from "../../contract/bridge-error.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { PayloadName } from "../../contract/task-record.ts";
import type { EngineContext } from "./engine-context.ts";

/**
 * Reads a payload in full. For answers and secrets, whose sizes are limited; never for outputs. `not_found` when it
 * went, with the question it belongs to, after the caller had read the record.
 */
export const readWholePayload = async (
  engine: EngineContext,
  taskId: TaskId,
  name: PayloadName,
): Promise<Uint8Array> => {
  const chunk = await engine.store.readPayload(taskId, name, { offset: 0, length: Number.MAX_SAFE_INTEGER });
  if (chunk === undefined)
    throw new BridgeError("not_found", `the ${name.split(":")[0]} of task ${taskId} is no longer kept`);
  return chunk.bytes;
};

/** The exact text of an input. Undefined once the start has been settled and the task has expired. */
export const readInput = async (engine: EngineContext, taskId: TaskId): Promise<string | undefined> => {
  const chunk = await engine.store.readPayload(taskId, "input", { offset: 0, length: Number.MAX_SAFE_INTEGER });
  return chunk && Buffer.from(chunk.bytes).toString("utf8");
};
