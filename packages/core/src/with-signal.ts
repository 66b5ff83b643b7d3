/**
 * Runs something until the signal fires; then it rejects with `AbortError`, while the work goes on unheard. For vendors'
 * calls that heed no signal. Nothing is begun when it has fired already.
 */
export const withSignal = async <Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> => {
  const abortion = (): DOMException => new DOMException("the call was given up", "AbortError");
  if (signal.aborted) throw abortion();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortion());
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
};
