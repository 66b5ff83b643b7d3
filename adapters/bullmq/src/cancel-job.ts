import { BridgeError } from "@taskbridge/core/adapter";
import type { JobLocation } from "./execution-ref.ts";
import type { BullmqClient, Cancel, QueuePort } from "./redis/client.ts";

/** Two are enough, unless another process cancels the same job. */
const maxTurns = 5;
/** Children of children of children. */
const deepest = 10;

/** `removed`: it never runs again. `signalled`: a worker holds it, and has been told to stop. */
export type Cancelled = "removed" | "signalled" | "ended";

/** Takes a job out of its queue and removes it, or tells the worker that holds it. Under the ID of our own job the reason is kept, so that no late start adds it again. */
const stopJob = async (
  queue: QueuePort,
  id: string,
  cancel: Cancel,
): Promise<{ readonly cancelled: Cancelled; readonly children: readonly string[] }> => {
  const children = new Set<string>();
  for (let turn = 0; turn < maxTurns; turn++) {
    const marked = await queue.markCancelled(id, cancel);
    for (const child of marked.children) children.add(child);
    if (marked.state === "gone") return { cancelled: "removed", children: [...children] };
    if (marked.state === "ended") return { cancelled: "ended", children: [] };
    if (marked.state === "held") return { cancelled: "signalled", children: [...children] };
    await queue.remove(id);
  }
  throw new BridgeError("unavailable", `the job ${id} is there again each time it is removed`, { operation: "cancel" });
};

/** Stops a job and what it waits for. */
export const cancelJob = async (
  client: BullmqClient,
  location: JobLocation,
  cancel: Omit<Cancel, "isOurs">,
  depth = 0,
  root: JobLocation = location,
): Promise<Cancelled> => {
  const queue = await client.open(location, root);
  const { cancelled, children } = await stopJob(queue, location.id, { ...cancel, isOurs: depth === 0 });
  // The parent goes first: else the removal of its last child would set it free to run.
  for (const key of depth < deepest ? children : []) {
    const child = await queue.locate(key);
    if (child !== undefined) await cancelJob(client, child, cancel, depth + 1, root);
  }
  return cancelled;
};
