import { randomUUID } from "node:crypto";
import type { TaskId } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** Which tasks have changed lately, so that other processes with the same file can tell their waiters. */
export interface ChangeLog {
  /** Runs inside the transaction that changes the task. */
  append(taskId: TaskId): void;
  watch(listener: (taskId: TaskId) => void): () => void;
  close(): void;
}

/** How soon others' changes are told. A look costs a few microseconds. */
const pollMs = 100;
/** So many changes are kept; nobody falls behind that far between two looks. */
const kept = 8192;

export const createChangeLog = ({ prepare }: Pick<Connection, "prepare">): ChangeLog => {
  const origin = randomUUID();
  const listeners = new Set<{ readonly notify: (taskId: TaskId) => void }>();
  let timer: NodeJS.Timeout | undefined;
  let seenVersion: unknown;
  let seenSeq = 0;

  const skipToEnd = (): void => {
    seenSeq = Number(prepare("SELECT max(seq) FROM changes").pluck().get() ?? 0);
  };

  const readChanges = (): Set<TaskId> => {
    // Moves only when another connection has written, so that looking in vain costs next to nothing.
    const version = prepare("PRAGMA data_version").pluck().get();
    if (version === seenVersion) return new Set();
    const rows = prepare("SELECT seq, task_id AS taskId, origin FROM changes WHERE seq > ? ORDER BY seq").all(
      seenSeq,
    ) as {
      readonly seq: number;
      readonly taskId: TaskId;
      readonly origin: string;
    }[];
    seenVersion = version;
    seenSeq = rows.at(-1)?.seq ?? seenSeq;
    return new Set(rows.filter((row) => row.origin !== origin).map((row) => row.taskId));
  };

  /** Locked or failing just now: the next look catches up. */
  const attempt = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch {
      return undefined;
    }
  };

  const poll = (): void => {
    for (const taskId of attempt(readChanges) ?? []) for (const { notify } of [...listeners]) notify(taskId);
  };

  const stopPolling = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    append: (taskId) => {
      const { lastInsertRowid } = prepare("INSERT INTO changes (task_id, origin) VALUES (?, ?)").run(taskId, origin);
      // Seldom and never to emptiness: the next number is one more than the last row's.
      if (Number(lastInsertRowid) % 1024 === 0)
        prepare("DELETE FROM changes WHERE seq <= ?").run(Number(lastInsertRowid) - kept);
    },
    watch: (notify) => {
      const listener = { notify };
      listeners.add(listener);
      if (timer === undefined) {
        attempt(skipToEnd);
        timer = setInterval(poll, pollMs);
        timer.unref();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stopPolling();
      };
    },
    close: () => {
      listeners.clear();
      stopPolling();
    },
  };
};
