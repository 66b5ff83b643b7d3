import type { TaskId } from "@taskbridge/core/store";
import type { Call, RedisPort } from "../redis/redis-port.ts";
import type { ChangeMessage } from "./change-message.ts";

/** Tells other processes which tasks have changed. */
export interface ChangeTeller {
  /** Tells it soon. What comes while a message is under way goes into the next. */
  announce(taskId: TaskId): void;
  close(): void;
}

export interface ChangeTellerOptions {
  readonly port: RedisPort;
  readonly channel: string;
  readonly origin: string;
  startCall(operation: string): Call;
}

/** Beyond so many in one message all may have changed. */
const mostTold = 10_000;
/** How soon it is tried again to tell what could not be told (milliseconds). */
const retryMs = 500;

export const createChangeTeller = ({ port, channel, origin, startCall }: ChangeTellerOptions): ChangeTeller => {
  let changed = new Set<TaskId>();
  let isAnyChanged = false;
  let isTelling = false;
  let isClosed = false;

  const tellAll = async (): Promise<void> => {
    while (!isClosed && (changed.size > 0 || isAnyChanged)) {
      const message: ChangeMessage = isAnyChanged ? [origin] : [origin, ...changed];
      changed = new Set();
      isAnyChanged = false;
      await port.send(startCall("announce"), [{ call: ["publish", channel, JSON.stringify(message)] }]);
    }
    isTelling = false;
  };

  const start = (): void => {
    tellAll().catch(() => {
      // What it was is told as anything. Nobody waits longer for it than until they look again by themselves.
      isAnyChanged = true;
      if (!isClosed) setTimeout(start, retryMs).unref();
    });
  };

  return {
    announce: (taskId) => {
      if (changed.size < mostTold) changed.add(taskId);
      else isAnyChanged = true;
      if (isTelling) return;
      isTelling = true;
      setImmediate(start);
    },
    close: () => {
      isClosed = true;
    },
  };
};
