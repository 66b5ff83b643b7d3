import { toGracefulEnd, type WireMessage, withTaskIds } from "@taskbridge/protocol/tasks-2026-07-28";
import type { Gate } from "./gate.ts";
import type { ListenContext } from "./open-subscription.ts";
import { readSdkFrames } from "./sdk-frames.ts";
import type { TaskFeed } from "./task-feed.ts";

export interface ListenStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Graceful: what waits is still written, and then that the server ends it on purpose. */
  end(isGraceful: boolean): void;
}

export interface ListenStreamParts {
  readonly subscriptionId: string | number;
  /** The SDK's own stream: its acknowledgement and whatever else was subscribed to. */
  readonly sdk: ReadableStream<Uint8Array>;
  readonly feed: TaskFeed;
  /** Opened by the feed when it has news. */
  readonly gate: Gate;
  /** Called once, when nothing of the stream is left. */
  readonly closed: () => void;
}

type Frame = { readonly text: string } | { readonly over: "graceful" | "abrupt" };

const toText = (message: WireMessage): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

/**
 * The body of a `subscriptions/listen` answer: the SDK's acknowledgement with the tasks among what it honours, then tasks
 * and the SDK's other notifications. Written only as fast as it is read.
 */
export const openListenStream = (context: ListenContext, parts: ListenStreamParts): ListenStream => {
  const { feed, gate, subscriptionId } = parts;
  const sdk = readSdkFrames(parts.sdk, gate.open);
  let isEnding = false;
  let isClosed = false;
  let isKeepAliveDue = false;
  const keepAlive = setInterval(() => {
    isKeepAliveDue = true;
    gate.open();
  }, context.keepAliveMs);
  keepAlive.unref();

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(keepAlive);
    feed.stop();
    sdk.cancel();
    parts.closed();
    gate.open();
  };
  /** What can be written now; undefined: nothing yet. */
  const readyFrame = (): Frame | undefined => {
    if (isClosed) return { over: "abrupt" };
    const own = sdk.take();
    if (own !== undefined) {
      const isAcknowledgement = own.kind === "acknowledgement";
      return { text: toText(isAcknowledgement ? withTaskIds(own.message, feed.taskIds) : own.message) };
    }
    const state = sdk.state();
    const update = state === "opening" ? undefined : feed.take();
    if (update !== undefined) return { text: toText(update) };
    if (isEnding || state === "ended" || (state === "empty" && feed.isOver())) return { over: "graceful" };
    if (state === "broken") return { over: "abrupt" };
    if (!isKeepAliveDue) return undefined;
    isKeepAliveDue = false;
    return { text: ": keepalive\n\n" };
  };
  const nextFrame = async (): Promise<Frame> => {
    for (;;) {
      const change = gate.next();
      const frame = readyFrame();
      if (frame !== undefined) return frame;
      await change;
    }
  };

  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const frame = await nextFrame();
        const wasCancelled = isClosed;
        if ("text" in frame) return controller.enqueue(encoder.encode(frame.text));
        close();
        if (frame.over === "graceful") {
          controller.enqueue(encoder.encode(toText(toGracefulEnd(subscriptionId, { ...context.serve.identity }))));
        }
        if (!wasCancelled) controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
  return {
    body,
    end: (isGraceful) => {
      isEnding = true;
      if (!isGraceful) close();
      gate.open();
    },
  };
};
