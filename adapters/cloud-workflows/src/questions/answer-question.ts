import { type AnswerRequest, BridgeError, type CallContext, toBridgeError } from "@taskbridge/core/adapter";
import type { Delivery, GcwClient } from "../google/client.ts";
import type { TokenBucket } from "../google/token-bucket.ts";
import { type CallbackSecret, hasBody, parseSecret } from "./callback-secret.ts";
import { isOpen } from "./to-questions.ts";

/** All of an execution's variables share so much memory (bytes): https://cloud.google.com/workflows/quotas */
const mostBytes = 524_288;
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
  if (Buffer.byteLength(body) > mostBytes)
    throw new BridgeError("invalid_input", `an answer has ${mostBytes} bytes at most`, { notSent: true });
  return { method, body };
};

/**
 * Sends an answer to the callback that a step waits for. Google keeps one that nobody waits for and gives it to whoever waits next, so
 * that it is looked at first. It does not keep whose answer closed a callback: one that is found closed after an earlier delivery, whose
 * fate is unknown, counts as closed by that.
 */
export const answerQuestion = async (
  client: GcwClient,
  rate: TokenBucket,
  execution: string,
  { question, action, content, attempt }: AnswerRequest,
  { signal }: CallContext,
): Promise<void> => {
  const secret = parseSecret(question);
  const delivery = toDelivery(secret, { action, ...(content === undefined ? {} : { content }) });

  const isStillOpen = async (): Promise<boolean> => {
    if (!(await rate.take(waitMs, signal)))
      throw new BridgeError("throttled", "too much else is looked at to send an answer now", {
        notSent: true,
        retryAfterMs: 1_000,
      });
    try {
      const callbacks = await client.callbacks(execution, signal);
      return callbacks.some((callback) => callback.id === secret.callbackId && isOpen(callback));
    } catch (error) {
      // Ended executions have none.
      if (toBridgeError(error).code === "not_found") return false;
      throw error;
    }
  };
  const closed = (cause?: unknown): void => {
    if (attempt === 1)
      throw new BridgeError("conflict", "nobody waits for this answer any more", { notSent: true, cause });
  };

  if (!(await isStillOpen())) return closed();
  try {
    await client.deliver(execution, secret.callbackId, delivery, signal);
  } catch (error) {
    const known = toBridgeError(error);
    // 404: the execution has ended meanwhile. 429: another answer has not been read yet, or the project's rate is used up.
    if (known.code === "not_found") return closed(error);
    if (known.code === "throttled" && !(await isStillOpen())) return closed(error);
    throw known;
  }
};
