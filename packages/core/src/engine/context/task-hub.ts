import type { TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";

/** Tells waiters in this process about new revisions, in milliseconds and without a read. */
export interface TaskHub {
  /** A new revision was written or read; undefined: the record is gone, or has changed elsewhere and must be read anew. */
  publish(taskId: TaskId, record: TaskRecord | undefined): void;
  /** Returns how to stop. */
  subscribe(taskId: TaskId, listener: (record: TaskRecord | undefined) => void): () => void;
  /** The tasks that somebody hears of. */
  subscribed(): readonly TaskId[];
  /** Hears of every record. Returns how to stop. */
  subscribeAll(listener: (taskId: TaskId, record: TaskRecord | undefined) => void): () => void;
}

export const taskHub = (): TaskHub => {
  const byTask = new Map<TaskId, Set<(record: TaskRecord | undefined) => void>>();
  const all = new Set<(taskId: TaskId, record: TaskRecord | undefined) => void>();
  return {
    publish: (taskId, record) => {
      for (const listener of [...(byTask.get(taskId) ?? [])]) listener(record);
      for (const listener of [...all]) listener(taskId, record);
    },
    subscribe: (taskId, listener) => {
      const listeners = byTask.get(taskId) ?? new Set();
      byTask.set(taskId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byTask.get(taskId) === listeners) byTask.delete(taskId);
      };
    },
    subscribed: () => [...byTask.keys()],
    subscribeAll: (listener) => {
      all.add(listener);
      return () => void all.delete(listener);
    },
  };
};
