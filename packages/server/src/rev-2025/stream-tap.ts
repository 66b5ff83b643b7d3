/** A stream of an answer as it goes out, with a word about how it fares. */
export interface StreamTap {
  readonly body: ReadableStream<Uint8Array>;
  /** Fires when nothing can be written any more, whoever ended it. */
  readonly closed: AbortSignal;
  /**
   * True while the reader waits for more. Once closed: whether it had taken everything by then, which nobody knows of a
   * reader that is lost: its connection may have taken the bytes with it.
   */
  isReady(): boolean;
  /** Ends it after what was written so far. `isWithdrawn`: because its client wants no answer any more. */
  end(isWithdrawn?: boolean): void;
  /** Gives its reader up for lost, since it has come back another way. */
  lose(): void;
}

/** What goes out beside what comes. */
export interface StreamShape {
  /** Goes out first. Default: a comment. */
  readonly opening?: Uint8Array;
  /** Changes what goes out. */
  readonly mark?: (frame: Uint8Array) => Uint8Array;
  /** Goes out last when the client has taken its request back. */
  readonly farewell?: Uint8Array;
}

const comment = new TextEncoder().encode(": open\n\n");

/** Passes an event stream on, as fast as it is read, its failure as well. `gone` fires when its reader is no longer there. */
export const tapStream = (
  source: ReadableStream<Uint8Array>,
  gone: AbortSignal,
  { opening = comment, mark = (frame) => frame, farewell }: StreamShape = {},
): StreamTap => {
  const reader = source.getReader();
  const closed = new AbortController();
  let isWaiting = false;
  let isOver = false;
  let isOpened = false;
  let isLost = false;
  let isWithdrawn = false;
  const finish = (): void => {
    isOver = true;
    gone.removeEventListener("abort", lose);
    closed.abort(new Error("the stream is closed"));
  };
  const end = (withdrawn = false): void => {
    if (isOver) return;
    isWithdrawn = withdrawn;
    finish();
    // The source then knows as well, and whoever reads gets the end. One that has failed has told so by `read`.
    reader.cancel().catch(() => {});
  };
  const lose = (): void => {
    isLost ||= !isOver;
    end();
  };
  gone.addEventListener("abort", lose, { once: true });
  if (gone.aborted) lose();
  const read = async (): ReturnType<typeof reader.read> => {
    try {
      return await reader.read();
    } catch (error) {
      isLost = true;
      finish();
      throw error;
    }
  };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        // Nothing goes out, not even the headers, before the first bytes do.
        if (!isOpened) {
          isOpened = true;
          return controller.enqueue(opening);
        }
        isWaiting = true;
        const { value, done } = await read();
        if (!done) {
          isWaiting = false;
          return controller.enqueue(mark(value));
        }
        finish();
        if (isWithdrawn && farewell !== undefined) controller.enqueue(farewell);
        controller.close();
      },
      cancel: lose,
    },
    { highWaterMark: 0 },
  );
  return { body, closed: closed.signal, isReady: () => isWaiting && !isLost, end, lose };
};
