import type { Clock } from "@taskbridge/core";
import {
  type ClientTask,
  isClientTaskOver,
  parseClientTask,
  type SessionCapabilities,
} from "@taskbridge/protocol/tasks-2025-11-25";
import type { Channel } from "./channel.ts";
import type { ClientLink } from "./client-link.ts";
import { firstOf } from "./first-of.ts";
import type { QuestionWatch } from "./question-watch.ts";
import { createWaiter } from "./waiter.ts";

/** The client that has the task, and the question that it is about. */
export interface AskingClient {
  readonly link: ClientLink;
  readonly clock: Clock;
  readonly capabilities: SessionCapabilities;
  readonly watch: QuestionWatch;
  /** The parameters of the question itself, tied to its task in the way of the stream that they go on. */
  relate(params: object, on: Channel): object;
}

/** Between two looks at a task: where the client has no wish, and the least and the most that it may wish (milliseconds). */
const pollMs = 1_000;
const minPollMs = 100;
const maxPollMs = 30_000;
/** A client that does not answer a cancellation is waited for no longer (milliseconds). */
const cancelMs = 5_000;

/**
 * Looks at the task that a question has become until the client has ended it, and resolves with the answer. Cancels it,
 * where the client can, when the question is settled before.
 */
export const followClientTask = async (client: AskingClient, created: ClientTask): Promise<unknown> => {
  const { taskId } = created;
  const wait = createWaiter(client.watch.over);
  let task = created;
  try {
    while (!isClientTaskOver(task.status)) {
      const wishedMs = task.pollIntervalMs ?? pollMs;
      const delayMs = Math.min(Math.max(wishedMs, minPollMs), maxPollMs);
      await wait((resolve) => client.clock.schedule(delayMs, resolve));
      task = parseClientTask(await requestOnAny(client, "tasks/get", { taskId }), taskId);
    }
    if (task.status === "cancelled") return { action: "cancel" };
    return await requestOnAny(client, "tasks/result", { taskId });
  } catch (error) {
    if (client.watch.over.aborted && client.capabilities.taskCancel && !isClientTaskOver(task.status)) {
      await cancelClientTask(client, taskId);
    }
    throw error;
  }
};

/** A stream that closes takes the answer with it: the same is then asked on the next one. */
const requestOnAny = async (client: AskingClient, method: string, params: object): Promise<unknown> => {
  for (;;) {
    if (client.watch.reach() === undefined) await client.watch.returned();
    const channel = await client.watch.turn();
    const attempt = firstOf([client.watch.over, channel.closed]);
    try {
      return await client.link.request(method, params, { on: channel.on, signal: attempt.signal });
    } catch (error) {
      if (client.watch.over.aborted || !channel.closed.aborted) throw error;
    } finally {
      attempt.release();
    }
  }
};

/** Nobody waits for the answer any more, so that a client which does not take the cancellation is left alone. */
const cancelClientTask = async ({ link, watch, clock }: AskingClient, taskId: string): Promise<void> => {
  const channel = watch.reach();
  if (channel === undefined) return;
  const late = new AbortController();
  const stop = clock.schedule(cancelMs, () => late.abort(new Error("the client did not answer")));
  try {
    await link.request("tasks/cancel", { taskId }, { on: channel.on, signal: late.signal });
  } catch {
    // The client's own retention ends it.
  } finally {
    stop();
  }
};
