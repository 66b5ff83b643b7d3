import { exitCodes } from "../cli-error.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  /** What Ctrl-C does. */
  interrupt(): void;
  dispose(): void;
}

/** Turns the first SIGINT or SIGTERM into an abort; the second ends the process at once. */
export const interruption = (): Interruption => {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(new Error("interrupted"));
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  return {
    signal: controller.signal,
    interrupt,
    dispose: () => {
      process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    },
  };
};
