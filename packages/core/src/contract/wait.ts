import { type Clock, systemClock } from "./clock.ts";

/**
 * Settles as `pending` does, or rejects with `reason` (default: the signal's) as soon as the signal fires. The work itself
 * goes on; its later result is ignored.
 */
export const unlessAborted = <Value>(
  signal: AbortSignal,
  pending: Promise<Value>,
  reason: () => unknown = () => signal.reason,
): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(reason());
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    void pending.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });

/**
 * Runs work until the signal fires, then rejects with `AbortError`. For vendors' calls that ignore signals. Does not begin the
 * work when the signal has fired already.
 */
export const withSignal = async <Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> => {
  const givenUp = (): DOMException => new DOMException("the call was given up", "AbortError");
  if (signal.aborted) throw givenUp();
  return unlessAborted(signal, work(), givenUp);
};

/** How long a wait may last. */
export interface WaitLimits {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Settles as `pending` does, or resolves with undefined after `timeoutMs` or when the signal fires. */
export const within = async <Value>(
  pending: Promise<Value>,
  timeoutMs: number,
  { clock = systemClock, signal }: WaitLimits = {},
): Promise<Value | undefined> => {
  let stop: () => void = () => {};
  const over = new Promise<undefined>((resolve) => {
    const end = (): void => resolve(undefined);
    const cancelTimer = clock.schedule(timeoutMs, end);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
    stop = () => {
      cancelTimer();
      signal?.removeEventListener("abort", end);
    };
  });
  try {
    return await Promise.race([pending, over]);
  } finally {
    stop();
  }
};

/** Resolves after `ms`, or when the signal fires. */
export const pause = async (ms: number, limits: WaitLimits = {}): Promise<void> =>
  within(new Promise<never>(() => {}), ms, limits);
