import { CliError, exitCodes } from "../cli-error.ts";

/** Ends with `message` and exit code 130 as soon as the signal fires, however long the work hangs. */
export const orInterrupted = async <Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  message: string,
): Promise<Value> => {
  // What the work rejects with later is nobody's.
  work.catch(() => {});
  let interrupt = (): void => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = () => reject(new CliError(message, exitCodes.interrupted));
  });
  signal.addEventListener("abort", interrupt, { once: true });
  if (signal.aborted) interrupt();
  try {
    return await Promise.race([interrupted, work]);
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
};
