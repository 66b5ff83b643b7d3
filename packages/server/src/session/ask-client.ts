import { isBridgeError } from "@taskbridge/core";
import { type ClientTask, parseCreatedTask, withClientTask } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Channel } from "./channel.ts";
import { type AskingClient, followClientTask } from "./follow-client-task.ts";
import { isRpcError } from "./is-rpc-error.ts";
import type { Inquiry } from "./to-inquiry.ts";

/** How long a client is asked to keep the task that a question has become (milliseconds). */
const clientTaskTtlMs = 86_400_000;

/** Puts an inquiry to the client and waits for what it replies, as a task of its own where it takes such. */
export const askClient = async (client: AskingClient, { method, params, asTask }: Inquiry): Promise<unknown> => {
  if (!asTask) return requestPatiently(client, method, params);
  const augmented = withClientTask({ method, params }, { ttlMs: clientTaskTtlMs });
  const reply = await requestPatiently(client, augmented.method, augmented.params);
  const created = toCreated(reply);
  return created === undefined ? reply : followClientTask(client, created);
};

/**
 * A reply comes by another way than its request, so that a stream that closes does not end the wait. What may not have
 * arrived is sent once more on the next stream, and whichever is answered first counts.
 */
const requestPatiently = async (client: AskingClient, method: string, params: object): Promise<unknown> => {
  const done = new AbortController();
  const signal = AbortSignal.any([client.watch.over, done.signal]);
  const replies: Promise<{ readonly reply: unknown }>[] = [];
  try {
    for (;;) {
      const next = await Promise.race([...replies, client.watch.turn()]);
      if ("reply" in next) return next.reply;
      const sent = client.link.request(method, client.relate(params, next), { on: next.on, signal });
      replies.push(unlessLost(sent, next, signal));
      const first = await Promise.race([...replies, client.watch.lost(next)]);
      if (first !== undefined) return first.reply;
    }
  } finally {
    done.abort(new Error("the question is settled"));
  }
};

/** What cannot be sent on a stream that has closed is no answer by the client. */
const unlessLost = async (
  reply: Promise<unknown>,
  { closed }: Channel,
  signal: AbortSignal,
): Promise<{ readonly reply: unknown }> => {
  try {
    return { reply: await reply };
  } catch (error) {
    if (signal.aborted || !closed.aborted || isRpcError(error)) throw error;
    return new Promise(() => {});
  }
};

/** A client that has declared tasks may still answer at once. */
const toCreated = (reply: unknown): ClientTask | undefined => {
  try {
    return parseCreatedTask(reply);
  } catch (error) {
    if (isBridgeError(error) && error.code === "bad_response") return undefined;
    throw error;
  }
};
