import type { Clock } from "./clock.ts";
import { createNap } from "./nap.ts";
import { createPace } from "./pace.ts";
import type { TaskStatus } from "./task-status.ts";
import type { Wire } from "./wire.ts";

/** One task, looked at again and again. */
export interface TaskWatch {
  /**
   * How it stands now at first, later when it has news or after the pause that the server asks for, longer where nothing
   * changes. Rejects with the signal's reason when it fires, and with `TaskClientError` (`not_found`, `expired`,
   * `unreachable`, …).
   */
  next(signal?: AbortSignal): Promise<TaskStatus>;
  /** Ends the pause before the next look. */
  wake(): void;
  close(): void;
}

/** `first`: how it stood when it was last seen. */
export const watchTask = (
  wire: Wire,
  taskId: string,
  { clock, asks, first }: { readonly clock: Clock; readonly asks: boolean; readonly first?: TaskStatus },
): TaskWatch => {
  const nap = createNap(clock);
  const pace = createPace();
  const stop = wire.watch(taskId, nap.wake, asks);
  const never = new AbortController().signal;
  let latest = first;
  let changed = true;
  return {
    next: async (signal = never) => {
      if (latest !== undefined) await nap.take(pace.next(latest.pollMs, changed), signal);
      const status = await wire.read(taskId, signal);
      changed = latest === undefined || !isSame(status, latest);
      latest = status;
      return status;
    },
    wake: nap.wake,
    close: stop,
  };
};

export const isSame = (one: TaskStatus, other: TaskStatus): boolean => JSON.stringify(one) === JSON.stringify(other);
