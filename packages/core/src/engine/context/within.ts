import type { EngineContext } from "./engine-context.ts";

/** What `work` resolves with, or undefined once the time is over or the signal fires. */
export const within = async <Result>(
  engine: EngineContext,
  work: Promise<Result>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Result | undefined> => {
  let stop: () => void = () => {};
  const over = new Promise<undefined>((resolve) => {
    const done = (): void => resolve(undefined);
    const cancelTimer = engine.clock.schedule(timeoutMs, done);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted === true) done();
    stop = () => {
      cancelTimer();
      signal?.removeEventListener("abort", done);
    };
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    stop();
  }
};
