import type { TaskId } from "@taskbridge/core/store";
import type { Call, RedisPort } from "../redis/redis-port.ts";
import type { ChangeMessage } from "./change-message.ts";

/** Tells other processes which tasks have changed. */
export interface ChangePublisher {
  /** Tells it soon. What comes while a message is under way goes into the next. */
  announce(taskId: TaskId): void;
  /** Tells what is still to be told, as far as it can be. Nothing is told any more afterwards. */
  close(): Promise<void>;
}

export interface ChangePublisherOptions {
  readonly port: RedisPort;
  readonly channel: string;
  readonly origin: string;
  startCall(operation: string): Call;
}

/** Beyond so many in one message all may have changed. */
const maxPublished = 10_000;
/** How soon it is tried again to tell what could not be told (milliseconds). */
const retryMs = 500;

export const createChangePublisher = ({
  port,
  channel,
  origin,
  startCall,
}: ChangePublisherOptions): ChangePublisher => {
  let changed = new Set<TaskId>();
  let isAnyChanged = false;
  let isPublishing = false;
  let isClosed = false;
  let publishing = Promise.resolve();

  const notifyAll = async (): Promise<void> => {
    while (changed.size > 0 || isAnyChanged) {
      const message: ChangeMessage = isAnyChanged ? [origin] : [origin, ...changed];
      changed = new Set();
      isAnyChanged = false;
      await port.send(startCall("announce"), [{ call: ["publish", channel, JSON.stringify(message)] }]);
    }
    isPublishing = false;
  };

  const start = (): void => {
    if (isClosed) return;
    publishing = notifyAll().catch(() => {
      // What it was is told as anything. Nobody waits longer for it than until they look again by themselves.
      isAnyChanged = !isClosed;
      changed.clear();
      if (!isClosed) setTimeout(start, retryMs).unref();
    });
  };

  return {
    announce: (taskId) => {
      if (changed.size < maxPublished) changed.add(taskId);
      else isAnyChanged = true;
      if (isPublishing || isClosed) return;
      isPublishing = true;
      setImmediate(start);
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await publishing;
      // No longer than a call may take: who is not told looks by himself after a while.
      await notifyAll().catch(() => {});
    },
  };
};
