import { BridgeError } from "@taskbridge/core/adapter";
import type { QueuePort } from "./redis/client.ts";

/** Removes what is left of a job, and that it was cancelled. A job that a worker holds is a `conflict`. */
export const forgetJob = async (queue: QueuePort, id: string): Promise<void> => {
  if (!(await queue.remove(id)))
    throw new BridgeError("conflict", `a worker holds the job ${id} in ${queue.name}`, { operation: "forget" });
  await queue.forget(id);
};
