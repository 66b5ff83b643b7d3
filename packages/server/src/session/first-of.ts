/**
 * Fires with the first of some signals, until it is released. `AbortSignal.any` leaves a trace in each of them for as long
 * as it lives, which adds up in the signals of a server: https://github.com/nodejs/node/issues/54614
 */
export const firstOf = (
  signals: readonly AbortSignal[],
): { readonly signal: AbortSignal; readonly release: () => void } => {
  const first = new AbortController();
  const release = (): void => {
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  };
  const onAbort = (): void => {
    const fired = signals.find(({ aborted }) => aborted);
    release();
    first.abort(fired?.reason);
  };
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  if (signals.some(({ aborted }) => aborted)) onAbort();
  return { signal: first.signal, release };
};
