import type { TaskId } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** What is told of changes: by whom, and of which tasks; null: of any. */
export interface ChangeNotice {
  readonly origin: string;
  readonly taskIds: readonly TaskId[] | null;
}

/** Tells other processes which tasks have changed, some milliseconds later and many at once. */
export interface ChangeSender {
  add(taskId: TaskId): void;
  /** Sends what is waiting. Never rejects. */
  close(): Promise<void>;
}

/** So long one waits for more of them: next to nothing for a waiter, and a hundred commits of a busy server. */
const gatherMs = 3;
const retryMs = 1_000;
/** PostgreSQL takes less than 8,000 bytes. */
const maxBytes = 7_000;
/** With more waiting than this, others are told that anything may have changed. */
const maxWaiting = 20_000;

/**
 * Outside of the transactions that changed the tasks: one that notifies takes a lock of the whole server until it is on
 * the disk, so that none of them could share a sync. This one waits for no disk. What is lost with a process, between its change and
 * its notice, costs those who wait the time until they look by themselves.
 */
const notify =
  "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, notice) FROM unnest($2::text[]) AS notice";

export const createChangeSender = (connection: Connection, channel: string, origin: string): ChangeSender => {
  let waiting = new Set<TaskId>();
  let hasMissed = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<boolean> | undefined;

  /** False: they could not be sent. */
  const send = async (): Promise<boolean> => {
    const notices = hasMissed ? [toNotice(origin, null)] : toNotices(origin, waiting);
    waiting = new Set();
    hasMissed = false;
    if (notices.length === 0) return true;
    try {
      await connection.query("notify", { text: notify, values: [channel, notices] });
      return true;
    } catch {
      hasMissed = true;
      return false;
    }
  };

  /** One at a time: at a slow server each would take another connection from the calls. */
  const sendNow = async (): Promise<void> => {
    timer = undefined;
    sending = send();
    const isSent = await sending;
    sending = undefined;
    if (!isSent) schedule(retryMs);
    else if (hasMissed || waiting.size > 0) schedule(gatherMs);
  };

  const schedule = (delayMs: number): void => {
    if (isClosed || sending !== undefined) return;
    timer ??= setTimeout(() => void sendNow(), delayMs);
  };

  return {
    add: (taskId) => {
      if (waiting.size < maxWaiting) waiting.add(taskId);
      else hasMissed = true;
      schedule(gatherMs);
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      // A server that has just failed to answer is not waited for again.
      if ((await sending) !== false) await send();
    },
  };
};

const toNotice = (origin: string, taskIds: readonly TaskId[] | null): string =>
  JSON.stringify({ origin, taskIds } satisfies ChangeNotice);

const toNotices = (origin: string, waiting: Iterable<TaskId>): string[] => {
  const notices: string[] = [];
  let taskIds: TaskId[] = [];
  let bytes = 0;
  for (const taskId of waiting) {
    const more = Buffer.byteLength(JSON.stringify(taskId)) + 1;
    if (bytes + more > maxBytes) {
      notices.push(toNotice(origin, taskIds));
      [taskIds, bytes] = [[], 0];
    }
    taskIds.push(taskId);
    bytes += more;
  }
  if (taskIds.length > 0) notices.push(toNotice(origin, taskIds));
  return notices;
};
