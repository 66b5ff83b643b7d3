import { type Clock, type GivenAnswer, isBridgeError } from "@taskbridge/core";
import {
  fromElicitResult,
  fromSamplingResult,
  isClientTaskOver,
  readClientTask,
  readCreatedTask,
  type SessionCapabilities,
  type SessionQuestion,
  toElicitation,
  toSampling,
  withClientTask,
} from "@taskbridge/protocol/rev-2025-11-25";
import type { Channel } from "./channel.ts";
import type { ClientLink } from "./client-link.ts";
import { isRpcError } from "./is-rpc-error.ts";
import type { QuestionWatch } from "./question-watch.ts";

/** A question in the form in which a client can be asked it. */
export interface Inquiry {
  readonly method: string;
  readonly params: object;
  /** True: the client takes it as a task of its own, which is then polled. */
  readonly asTask: boolean;
  /** Undefined: nothing to deliver yet. Throws `invalid_input` for what is no answer. */
  read(reply: unknown): GivenAnswer | undefined;
}

/** How long a client is asked to keep the task that a question has become (milliseconds). */
const clientTaskTtlMs = 86_400_000;
/** Between two looks at it, where the client has no wish, and at the very least (milliseconds). */
const pollMs = 1_000;
const minPollMs = 100;
const maxPollMs = 30_000;
/** A client may have ended its task and still be writing the result down. */
const cancelMs = 5_000;

/** How to put a question to a client, or why that is not possible, in one line. A person is asked before a model. */
export const toInquiry = (
  question: SessionQuestion,
  taskId: string,
  capabilities: SessionCapabilities,
  allowModelAnswers: boolean,
): Inquiry | string => {
  const elicitation = toElicitation(question, taskId, capabilities);
  if (typeof elicitation !== "string") {
    return {
      ...elicitation,
      asTask: capabilities.taskElicitation,
      read: (reply) => fromElicitResult(reply, question, capabilities),
    };
  }
  if (!allowModelAnswers || !capabilities.sampling) return elicitation;
  const sampling = toSampling(question, taskId);
  if (typeof sampling === "string") return sampling;
  return { ...sampling, asTask: capabilities.taskSampling, read: (reply) => fromSamplingResult(reply, question) };
};

export interface AskingClient {
  readonly link: ClientLink;
  readonly clock: Clock;
  readonly capabilities: SessionCapabilities;
  readonly watch: QuestionWatch;
}

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
      const sent = client.link.request(method, params, { on: next.on, signal });
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
const toCreated = (reply: unknown): ReturnType<typeof readCreatedTask> | undefined => {
  try {
    return readCreatedTask(reply);
  } catch (error) {
    if (isBridgeError(error) && error.code === "bad_response") return undefined;
    throw error;
  }
};

const followClientTask = async (
  client: AskingClient,
  created: ReturnType<typeof readCreatedTask>,
): Promise<unknown> => {
  const { taskId } = created;
  let task = created;
  try {
    while (!isClientTaskOver(task.status)) {
      const wishedMs = task.pollIntervalMs ?? pollMs;
      await pause(client, Math.min(Math.max(wishedMs, minPollMs), maxPollMs));
      task = readClientTask(await requestOnAny(client, "tasks/get", { taskId }), taskId);
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
    const attempt = AbortSignal.any([client.watch.over, channel.closed]);
    try {
      return await client.link.request(method, params, { on: channel.on, signal: attempt });
    } catch (error) {
      if (client.watch.over.aborted || !channel.closed.aborted) throw error;
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

const pause = ({ clock, watch: { over: signal } }: AskingClient, delayMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = (): void => {
      stop();
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
