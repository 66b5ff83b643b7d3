/**
 * Waits until `resolve` is called, of which `subscribe` returns how to take it back. Rejects with the reason of `over`
 * when that fires before.
 */
export const createWaiter =
  (over: AbortSignal) =>
  (subscribe: (resolve: () => void) => () => void): Promise<void> =>
    new Promise((resolve, reject) => {
      let stop: () => void = () => {};
      const settle = (act: () => void): void => {
        stop();
        over.removeEventListener("abort", onOver);
        act();
      };
      const onOver = (): void => settle(() => reject(over.reason));
      over.addEventListener("abort", onOver, { once: true });
      stop = subscribe(() => settle(resolve));
      if (over.aborted) onOver();
    });

/** Calls `act` when the signal fires, also one that has. Returns how to stop it. */
export const onAbort = (signal: AbortSignal, act: () => void): (() => void) => {
  if (signal.aborted) queueMicrotask(act);
  else signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
};
