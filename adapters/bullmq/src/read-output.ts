import { BridgeError, type OutputChunk, type OutputRange } from "@taskbridge/core/adapter";
import type { QueuePort } from "./redis/client.ts";

/** A part of a job's result. */
export const readOutput = async (
  queue: QueuePort,
  id: string,
  { offset, length }: OutputRange,
): Promise<OutputChunk> => {
  const chunk = await queue.readResult(id, offset, length);
  if (chunk !== undefined) return chunk;
  throw new BridgeError("not_found", `the job ${id} in ${queue.name} has no result any more`, {
    operation: "readOutput",
  });
};
