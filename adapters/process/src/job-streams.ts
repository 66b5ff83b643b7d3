/** After the command's end: how long to wait for output of processes it left behind, since the last of it and in all. */
const drainIdleMs = 50;
const drainMs = 1000;

type Take = (chunk: Buffer) => void;

export interface JobStreams {
  /** Resolves when the streams have ended or, held open by somebody, give nothing any more. They are not read afterwards. */
  drain(): Promise<void>;
}

/** Reads streams from now on. What `take` throws is a warning: the stream goes on. */
export const jobStreams = (
  pairs: readonly (readonly [NodeJS.ReadableStream | null, Take])[],
  warn: (message: string) => void,
): JobStreams => {
  let lastAt = 0;
  const read = ([stream, take]: readonly [NodeJS.ReadableStream | null, Take]): Promise<void> =>
    new Promise((resolve) => {
      stream?.on("data", (chunk: Buffer) => {
        lastAt = performance.now();
        try {
          take(chunk);
        } catch (error) {
          warn(`output was lost: ${String(error)}`);
        }
      });
      stream?.once("end", resolve).once("error", () => resolve());
    });
  const ended = Promise.all(pairs.map(read));
  const fallSilent = async (): Promise<void> => {
    const endsAt = performance.now() + drainMs;
    lastAt = performance.now();
    while (performance.now() < Math.min(endsAt, lastAt + drainIdleMs)) {
      await new Promise((resolve) => setTimeout(resolve, drainIdleMs / 5));
    }
  };
  return {
    async drain() {
      await Promise.race([ended, fallSilent()]);
      for (const [stream] of pairs) stream?.removeAllListeners("data");
    },
  };
};
