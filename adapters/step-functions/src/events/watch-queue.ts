import { type CallContext, type Subscription, toBridgeError, type WatchRequest } from "@taskbridge/core/adapter";
import { parseEvent } from "./parse-event.ts";
import type { QueueClient, QueueMessage } from "./queue-client.ts";

/** The longest that SQS waits. */
const pollSeconds = 20;
/** After so many failures in a row the subscription ends, and the engine says so and tries again. */
const maxFailures = 5;
/** Before another try, doubled each time (milliseconds). */
const firstPauseMs = 500;

/** Longer, and a message that was taken comes again (milliseconds). */
const deleteMs = 5_000;

export interface WatchTools {
  /** News of this execution has come: its details are to be read first. */
  hurry(arn: string): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const take = async (
  queue: QueueClient,
  messages: readonly QueueMessage[],
  { sink }: WatchRequest<unknown>,
  { hurry }: WatchTools,
  log: CallContext["log"],
): Promise<void> => {
  if (messages.length === 0) return;
  const updates = messages.flatMap(({ id, body }) => {
    const event = parseEvent(body);
    if (event === "unreadable") log("warn", `message ${id} of the queue names no execution: it is dropped`);
    if (typeof event === "string") return [];
    if (event.isRedrive) log("info", `${event.location.name} was redriven: a task that has ended keeps its first end`);
    hurry(event.location.arn);
    return [event.update];
  });
  if (updates.length > 0) await sink(updates);
  // Only now: what is not in the store comes again. Also while the subscription closes.
  await queue.delete(messages, AbortSignal.timeout(deleteMs));
};

/** Listens to the queue until it is closed. The first poll, which does not wait, tells whether there is a queue to listen to. */
export const watchQueue = async (
  queue: QueueClient,
  request: WatchRequest<unknown>,
  tools: WatchTools,
  { signal, log }: CallContext,
): Promise<Subscription> => {
  const closing = new AbortController();
  const first = await queue.receive(0, signal);
  const follow = async (): Promise<void> => {
    let messages: readonly QueueMessage[] = first;
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        await take(queue, messages, request, tools, log);
        messages = [];
        if (closing.signal.aborted) return;
        messages = await queue.receive(pollSeconds, closing.signal);
        failures = 0;
      } catch (error) {
        if (closing.signal.aborted) return;
        // What could not be handed on is not deleted, and comes again.
        messages = [];
        if (++failures >= maxFailures) throw error;
        await tools.pause(firstPauseMs * 2 ** failures, closing.signal).catch(() => {});
      }
    }
  };
  const loop = follow().catch((error: unknown) => {
    if (!closing.signal.aborted) request.ended(toBridgeError(error));
  });
  return {
    close: async () => {
      closing.abort();
      await loop;
    },
  };
};
