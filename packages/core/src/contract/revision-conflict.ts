import { BridgeError } from "./bridge-error.ts";
import type { TaskId } from "./identity.ts";

/** What a store rejects with when a record is at another revision than the caller expects. */
export const revisionConflict = (
  operation: "revise" | "remove",
  taskId: TaskId,
  revision: number,
  expected: number | undefined,
): BridgeError =>
  new BridgeError("conflict", `task ${taskId} is at revision ${revision}, not ${expected}`, {
    operation,
    data: { taskId, revision },
  });
