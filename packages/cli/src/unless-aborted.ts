/** What comes of the work, or the signal's reason as soon as that fires: what does not answer, and heeds no signal, holds up nobody. */
export const unlessAborted = <Value>(signal: AbortSignal, pending: Promise<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    void pending.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
