import { asTaskId, type TaskId } from "@taskbridge/core/store";
import { openListener, type Redis, type RedisClient } from "../redis/redis-client.ts";
import { parseChangeMessage } from "./change-message.ts";

/** Hears from other processes which tasks have changed. */
export interface ChangeListener {
  /** See `TaskStore.watch`. */
  watch(listener: (taskId: TaskId | undefined) => void): () => void;
  close(): void;
}

export interface ChangeListenerOptions {
  readonly client: RedisClient;
  readonly channel: string;
  /** Whose own messages are passed over. */
  readonly origin: string;
  /** Milliseconds within which the other side must give a sign of life. */
  readonly timeoutMs: number;
}

const firstPauseMs = 50;
const maxPauseMs = 2_000;

/** Listens on a connection of its own, and after that is lost on another one, for as long as somebody watches. */
export const createChangeListener = (options: ChangeListenerOptions): ChangeListener => {
  const { client, channel, origin, timeoutMs } = options;
  const listeners = new Set<{ readonly notify: (taskId: TaskId | undefined) => void }>();
  let connection: Redis | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isClosed = false;

  const notifyAll = (taskId: TaskId | undefined): void => {
    for (const { notify } of [...listeners]) notify(taskId);
  };

  const onNotice = (text: string): void => {
    const [from, ...taskIds] = parseChangeMessage(text);
    if (from === origin) return;
    if (taskIds.length === 0) notifyAll(undefined);
    for (const taskId of taskIds) notifyAll(asTaskId(taskId));
  };

  const stop = (): void => {
    clearTimeout(timer);
    const stopped = connection;
    connection = undefined;
    stopped?.disconnect();
  };

  const startLater = (): void => {
    stop();
    if (listeners.size === 0) return;
    timer = setTimeout(start, Math.min(firstPauseMs * 2 ** failures, maxPauseMs)).unref();
    failures = Math.min(failures + 1, 10);
  };

  const start = (): void => {
    const opened = openListener(client, timeoutMs);
    connection = opened;
    if (opened === undefined) {
      startLater();
      return;
    }
    // Whoever only listens would not notice that the other side is gone.
    const heartbeat = setInterval(() => opened.ping().catch(() => {}), timeoutMs).unref();
    const isCurrent = (): boolean => connection === opened;
    opened.on("message", (_channel: string, text: string) => onNotice(text));
    opened.on("end", () => {
      clearInterval(heartbeat);
      if (isCurrent()) startLater();
    });
    const subscribe = async (): Promise<void> => {
      await opened.connect();
      await opened.subscribe(channel);
      if (!isCurrent()) return;
      failures = 0;
      // What was changed before this moment was not heard.
      notifyAll(undefined);
    };
    subscribe().catch(() => {
      if (isCurrent()) startLater();
    });
  };

  return {
    watch: (notify) => {
      if (isClosed) return () => {};
      const listener = { notify };
      listeners.add(listener);
      if (listeners.size === 1) start();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stop();
      };
    },
    close: () => {
      isClosed = true;
      listeners.clear();
      stop();
    },
  };
};
