import { isBridgeError } from "@taskbridge/core";
import { toAccess } from "../caller.ts";
import { track } from "../mcp/track-call.ts";
import type { Sep1686Call } from "./sep1686-call.ts";
import { givenUp } from "./to-sep1686-fault.ts";

/**
 * The wait ends without an answer. Only a cancellation that somebody has asked for ends the task as well; the client may
 * still send one after its stream is lost, or after the timeout of its own SDK.
 */
export const leaveSep1686Task = async ({ context, request, task, lifetime }: Sep1686Call): Promise<never> => {
  const options = { reason: "the client asked for it", isFinal: true };
  const cancel = (): Promise<unknown> =>
    track(context, context.engine.cancelTask(task.taskId, toAccess(request.owner), options));
  if (lifetime.gone.aborted) {
    await cancel();
    throw givenUp();
  }
  // It takes the place of what this call has kept, and stays when that is forgotten.
  request.session.draft.keep(request.id, () => {
    cancel().catch((error: unknown) => {
      if (isBridgeError(error) && error.code === "not_found") return;
      context.log.warn({ err: error, taskId: task.taskId }, "a task could not be cancelled");
    });
  });
  // A client that waits while the server is stopped is to poll: its stream is closed without an answer.
  if (context.stopping.aborted && !request.signal.aborted) return new Promise<never>(() => {});
  throw givenUp();
};
