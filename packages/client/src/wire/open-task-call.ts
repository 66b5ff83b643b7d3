import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Clock } from "../clock.ts";
import type { Begun, OpenCall, Wire } from "../wire.ts";

/**
 * So long a call that is cancelled may still be answered with its task, which can then be cancelled for certain
 * (milliseconds). Who gives up before cannot know whether there is one.
 */
export const graceMs = 1_000;

/** A call that is answered with its task. `send` is given what ends the wait for that answer. */
export const openTaskCall = (
  send: (signal: AbortSignal) => Promise<Begun>,
  cancelTask: Wire["cancel"],
  clock: Clock,
): OpenCall => {
  const over = new AbortController();
  const begun = send(over.signal);
  const giveUp = (): void => over.abort(new TaskClientError("cancelled", "the call was cancelled before its answer"));
  return {
    begun,
    cancel: async () => {
      const stop = clock.after(graceMs, giveUp);
      try {
        const outcome = await begun;
        if (outcome.kind === "task") await cancelTask(outcome.task.taskId);
      } catch (error) {
        // `result()` tells which of both it is.
        if (!isTaskClientError(error, "cancelled") && !isTaskClientError(error, "outcome_unknown")) throw error;
      } finally {
        stop();
      }
    },
  };
};
