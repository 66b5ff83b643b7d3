import type { Clock } from "./clock.ts";
import { createNap } from "./nap.ts";
import { createPace } from "./pace.ts";
import { isOver, type Task } from "./task.ts";
import type { Wire } from "./wire.ts";

/** One task, looked at again and again. */
export interface TaskWatch {
  /**
   * How it stands now at first, later when it has news or after the pause that the server asks for, longer where nothing
   * changes. Rejects with the signal's reason when it fires, and with `TaskClientError` (`not_found`, `expired`,
   * `unreachable`, …).
   */
  next(signal: AbortSignal): Promise<Task>;
  /** Ends the pause before the next look. */
  wake(): void;
  close(): void;
}

/** `first`: how it stood when it was last seen. */
export const watchTask = (
  wire: Wire,
  taskId: string,
  { clock, asks, first }: { readonly clock: Clock; readonly asks: boolean; readonly first?: Task },
): TaskWatch => {
  const nap = createNap(clock);
  const pace = createPace();
  const stop = wire.watch(taskId, nap.wake, asks);
  let latest = first;
  let changed = true;
  return {
    next: async (signal) => {
      if (latest !== undefined) await nap.sleep(pace.next(latest.pollIntervalMs, changed), signal);
      const task = await wire.read(taskId, signal);
      changed = latest === undefined || !isSame(task, latest);
      latest = task;
      return task;
    },
    wake: nap.wake,
    close: stop,
  };
};

/** The looks of a watch, to the one at which the task is over. Closes it then, and when the signal fires. */
export const toSnapshots = (watch: TaskWatch, signal: AbortSignal): AsyncIterableIterator<Task> => {
  let isDone = false;
  const end = (): void => {
    isDone = true;
    signal.removeEventListener("abort", end);
    watch.close();
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  const snapshots: AsyncIterableIterator<Task> = {
    [Symbol.asyncIterator]: () => snapshots,
    next: async () => {
      signal.throwIfAborted();
      if (isDone) return { done: true, value: undefined };
      try {
        const task = await watch.next(signal);
        if (isOver(task)) end();
        return { done: false, value: task };
      } catch (error) {
        end();
        throw error;
      }
    },
    return: async () => {
      end();
      return { done: true, value: undefined };
    },
  };
  return snapshots;
};

export const isSame = (one: Task, other: Task): boolean => JSON.stringify(one) === JSON.stringify(other);
