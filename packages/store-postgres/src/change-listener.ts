import type { TaskId } from "@taskbridge/core/store";
import { Client, type ClientConfig } from "pg";
import type { ChangeNotice } from "./change-sender.ts";
import { destroyClient, unrefClient } from "./client-session.ts";

/** Hears which tasks others have changed, on a connection of its own. */
export interface ChangeListener {
  watch(listener: (taskId: TaskId | undefined) => void): () => void;
  close(): void;
}

export interface ChangeListenerOptions {
  /** Where to: the server itself, for a pooler passes no notices on. */
  readonly client: ClientConfig;
  readonly channel: string;
  /** Whose changes are none of our business: our own. */
  readonly origin: string;
  /** How long the server may take to answer, and how often it is asked to: a connection that leads nowhere any more says nothing of it (milliseconds). */
  readonly timeoutMs: number;
}

const isStandby = 'SELECT pg_is_in_recovery() AS "isStandby"';
const shortestPauseMs = 100;
const maxPauseMs = 10_000;

export const createChangeListener = (options: ChangeListenerOptions): ChangeListener => {
  const listeners = new Set<{ readonly notify: (taskId: TaskId | undefined) => void }>();
  let current: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isClosed = false;

  const notifyAll = (taskId: TaskId | undefined): void => {
    for (const { notify } of [...listeners]) notify(taskId);
  };

  const onNotice = (payload: string | undefined): void => {
    const notice = parseNotice(payload);
    if (notice?.origin === options.origin) return;
    if (notice?.taskIds) for (const taskId of notice.taskIds) notifyAll(taskId);
    else notifyAll(undefined);
  };

  const later = (delayMs: number, action: () => void): void => {
    clearTimeout(timer);
    if (isClosed || listeners.size === 0) return;
    timer = setTimeout(action, delayMs);
    timer.unref();
  };

  const drop = (client: Client): void => {
    if (current === client) current = undefined;
    destroyClient(client);
  };

  const lose = (client: Client): void => {
    if (current !== client) return;
    drop(client);
    failures += 1;
    // Random, so that not all come back in the same moment.
    const pauseMs = Math.min(maxPauseMs, shortestPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random());
    later(pauseMs, () => void open());
  };

  const check = async (client: Client): Promise<void> => {
    if (current !== client) return;
    const watchdog = setTimeout(() => lose(client), options.timeoutMs);
    try {
      const { rows } = await client.query<{ readonly isStandby: boolean }>(isStandby);
      // It was the primary once; what is written elsewhere since is not told here.
      if (rows[0]?.isStandby !== false) lose(client);
      else if (current === client) later(options.timeoutMs, () => void check(client));
    } catch {
      lose(client);
    } finally {
      clearTimeout(watchdog);
    }
  };

  const open = async (): Promise<void> => {
    const client = new Client({ ...options.client, connectionTimeoutMillis: options.timeoutMs, keepAlive: true });
    current = client;
    client.on("error", () => lose(client));
    client.on("end", () => lose(client));
    client.on("notification", ({ payload }) => onNotice(payload));
    const watchdog = setTimeout(() => lose(client), 2 * options.timeoutMs);
    try {
      await client.connect();
      unrefClient(client);
      await client.query(`LISTEN "${options.channel}"`);
    } catch {
      lose(client);
      return;
    } finally {
      clearTimeout(watchdog);
    }
    if (current !== client) return;
    failures = 0;
    // From here on nothing is missed; what changed before may have been.
    notifyAll(undefined);
    later(options.timeoutMs, () => void check(client));
  };

  const stop = (): void => {
    clearTimeout(timer);
    const client = current;
    current = undefined;
    if (client !== undefined) destroyClient(client);
  };

  return {
    watch: (notify) => {
      const listener = { notify };
      listeners.add(listener);
      if (!isClosed && listeners.size === 1) void open();
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

/**
 * What came on the channel, if it is a notice exactly as this version writes them. Undefined otherwise, which means that
 * anything may have changed: whoever may connect to the database can say anything there, and a later version more than we know of.
 */
export const parseNotice = (payload: string | undefined): ChangeNotice | undefined => {
  const reported = parseJson(payload);
  if (typeof reported !== "object" || reported === null) return undefined;
  const { origin, taskIds, ...others } = reported as Partial<ChangeNotice>;
  const isOurs =
    typeof origin === "string" && (taskIds === null || isTexts(taskIds)) && Object.keys(others).length === 0;
  return isOurs ? { origin, taskIds } : undefined;
};

const parseJson = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
};

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
