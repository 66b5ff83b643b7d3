import { type AnswerRequest, BridgeError, type CallContext, toBridgeError } from "@taskbridge/core/adapter";
import type { Delivery, GcwClient } from "../google/client.ts";
import type { TokenBucket } from "../google/token-bucket.ts";
import { type CallbackSecret, hasBody, parseSecret } from "./callback-secret.ts";
import { isOpen } from "./to-questions.ts";

/** All of an execution's variables share so much memory (bytes): https://cloud.google.com/workflows/quotas */
const maxBytes = 524_288;
/** How long one look waits for its turn (milliseconds). */
const waitMs = 5_000;

const toDelivery = (
  { method, declinable }: CallbackSecret,
  { action, content }: Pick<AnswerRequest, "action" | "content">,
): Delivery => {
  if (action !== "accept") {
    if (declinable) return { method, body: JSON.stringify({ action }) };
    const message = "the workflow reads no refusal from this callback (`declinable`)";
    throw new BridgeError("unsupported", message, { notSent: true });
  }
  if (!hasBody(method)) return { method };
  const body = JSON.stringify(content ?? {});
  if (Buffer.byteLength(body) > maxBytes)
    throw new BridgeError("invalid_input", `an answer has ${maxBytes} bytes at most`, { notSent: true });
  return { method, body };
};

/** Answers of which no delivery can have arrived so far: the last attempt, by their IDs. */
export type UnsentAnswers = Map<string, number>;

/** Answers that are remembered as not sent. */
const maxUnsent = 1_000;

export interface AnswerTools {
  readonly client: GcwClient;
  /** Of lists of callbacks and of steps. */
  readonly rate: TokenBucket;
  readonly unsent: UnsentAnswers;
}

/** An error told without the callback, by whose ID anybody with a role can answer. */
const retold = (error: unknown, { callbackId }: CallbackSecret, isUnsent: boolean): BridgeError => {
  const { code, message, notSent, retryAfterMs, data } = toBridgeError(error);
  return new BridgeError(code, message.replaceAll(callbackId, "[callback]"), {
    notSent: notSent || isUnsent,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(data === undefined ? {} : { data }),
    cause: error,
  });
};

const untold = (cause?: unknown): BridgeError =>
  new BridgeError("conflict", "it cannot be told any more which step waits for this answer", { notSent: true, cause });

/** Whether the step that the question is for still waits for its callback. */
const isStillAsked = async (
  { client, rate }: AnswerTools,
  execution: string,
  { callbackId, entryId }: CallbackSecret,
  signal: AbortSignal,
): Promise<boolean> => {
  const unlessEnded = async <Value>(call: () => Promise<Value>): Promise<Value | "ended"> => {
    if (!(await rate.take(waitMs, signal)))
      throw new BridgeError("throttled", "too much else is looked at to send an answer now", { retryAfterMs: 1_000 });
    return call().catch((error: unknown) => {
      if (toBridgeError(error).code === "not_found") return "ended";
      throw error;
    });
  };
  const callbacks = await unlessEnded(() => client.callbacks(execution, signal));
  if (callbacks === "ended" || !callbacks.some((callback) => callback.id === callbackId && isOpen(callback)))
    return false;
  if (entryId === undefined) return true;
  // After the callbacks: a run of a step that waits does nothing else, so that the callback is still its own if it goes on now.
  const entries = await unlessEnded(() => client.stepsInProgress(execution, signal)).catch((error: unknown) => {
    const { code } = toBridgeError(error);
    throw code === "denied" || code === "unsupported" ? untold(error) : error;
  });
  if (entries === undefined) throw untold();
  return entries !== "ended" && entries.some(({ id }) => id === entryId);
};

const deliverOnce = async (
  tools: AnswerTools,
  execution: string,
  secret: CallbackSecret,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<"delivered" | "closed"> => {
  const ask = (): Promise<boolean> =>
    isStillAsked(tools, execution, secret, signal).catch((error: unknown) => {
      throw retold(error, secret, true);
    });
  if (!(await ask())) return "closed";
  try {
    await tools.client.deliver(execution, secret.callbackId, delivery, signal);
    return "delivered";
  } catch (error) {
    const known = retold(error, secret, false);
    // 404: the execution has ended meanwhile. 429: another answer has not been read yet, or the project's rate is used up.
    if (known.code !== "not_found" && known.code !== "throttled") throw known;
    if (!(await ask())) return "closed";
    if (known.code === "throttled") throw known;
    throw new BridgeError("unavailable", "the callback is open, but Google does not find it", {
      notSent: true,
      cause: error,
    });
  }
};

/**
 * Sends an answer to the callback that a step waits for. Google keeps one that nobody waits for and gives it to whoever waits next, so
 * that it is looked at first. It does not keep whose answer closed a callback: one that is found closed after an earlier delivery, whose
 * fate is unknown, counts as closed by that.
 */
export const answerQuestion = async (
  tools: AnswerTools,
  execution: string,
  { answerId, question, action, content, attempt }: AnswerRequest,
  { signal }: CallContext,
): Promise<void> => {
  const { unsent } = tools;
  const secret = parseSecret(question);
  const delivery = toDelivery(secret, { action, ...(content === undefined ? {} : { content }) });
  // Attempts by another process, or by an earlier one, are not known here.
  const mayHaveArrived = attempt > 1 && unsent.get(answerId) !== attempt - 1;
  unsent.delete(answerId);
  let outcome: "delivered" | "closed";
  try {
    outcome = await deliverOnce(tools, execution, secret, delivery, signal);
  } catch (error) {
    if (toBridgeError(error).notSent && !mayHaveArrived) unsent.set(answerId, attempt);
    const [oldest] = unsent.keys();
    if (oldest !== undefined && unsent.size > maxUnsent) unsent.delete(oldest);
    throw error;
  }
  if (outcome === "closed" && !mayHaveArrived)
    throw new BridgeError("conflict", "the step does not wait for this answer any more", { notSent: true });
};
