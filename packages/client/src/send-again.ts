import { isTaskClientError, type TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import { withJitter } from "./jitter.ts";

export interface Patience {
  readonly clock: Clock;
  /** How long it is tried again (milliseconds). */
  readonly retryForMs: number;
  /** `tries`: how often it has failed. */
  mayRepeat(error: TaskClientError, tries: number): boolean;
  /** Whether the connection is closed, and there will be no other. */
  isGone(): boolean;
  /** Told once, when the server cannot be reached. */
  onUnreachable?(error: TaskClientError): void;
  /** Either ends it with its reason. */
  readonly closing: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

const shortestPauseMs = 250;
const maxPauseMs = 5_000;
/** SDK clients do not hand on how long a server that has too much to do wants to be left alone. */
const busyPauseMs = 2_000;

/** Sends again what may be sent again, after pauses that grow. */
export const sendAgain = async <Answer>(send: () => Promise<Answer>, patience: Patience): Promise<Answer> => {
  const { clock, retryForMs, closing, signal } = patience;
  const ending = signal === undefined ? closing : AbortSignal.any([closing, signal]);
  const startedAt = clock.now();
  let pauseMs = shortestPauseMs;
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      ending.throwIfAborted();
      if (!isTaskClientError(error) || !patience.mayRepeat(error, tries) || patience.isGone()) throw error;
      if (tries === 1 && error.code === "unreachable") patience.onUnreachable?.(error);
      const wantedMs = error.retryAfterMs ?? (error.httpStatus === 429 ? busyPauseMs : 0);
      const nextMs = Math.max(withJitter(pauseMs), wantedMs);
      if (clock.now() + nextMs - startedAt > retryForMs) throw error;
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      await clock.sleep(nextMs, ending);
    }
  }
};
