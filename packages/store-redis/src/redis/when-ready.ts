import { performance } from "node:perf_hooks";
import type { RedisClient } from "./redis-client.ts";
import type { Call } from "./redis-port.ts";
import { isLoginRefused } from "./to-error.ts";

/** What is known of a client's connection. */
interface Connection {
  /** Since when it is away: milliseconds of `performance.now()`. Undefined while it is there. */
  unavailableSince: number | undefined;
  /** Why. */
  lastError: unknown;
  readonly waiting: Set<(error?: unknown) => void>;
}

const connections = new WeakMap<RedisClient, Connection>();

const observe = (client: RedisClient): Connection => {
  const known = connections.get(client);
  if (known !== undefined) return known;
  const unavailableSince = client.status === "ready" ? undefined : performance.now();
  const connection: Connection = { unavailableSince, lastError: undefined, waiting: new Set() };
  const settleAll = (error?: unknown): void => {
    for (const settle of [...connection.waiting]) settle(error);
  };
  const note = (error: unknown): void => {
    connection.lastError = error;
    if (isLoginRefused(error)) settleAll(error);
  };
  client.on("error", note);
  client.on("node error", note);
  client.on("close", () => {
    connection.unavailableSince ??= performance.now();
  });
  client.on("end", () => settleAll(new Error("the client is closed")));
  client.on("ready", () => {
    connection.unavailableSince = undefined;
    connection.lastError = undefined;
    settleAll();
  });
  connections.set(client, connection);
  return connection;
};

/**
 * Waits for a connection that is being made, as long as the call has time. One that has been away for longer than `timeoutMs` is
 * not waited for: whoever calls then is told at once. A login that is refused ends the wait.
 */
export const whenReady = (client: RedisClient, call: Call, timeoutMs: number): Promise<void> => {
  const connection = observe(client);
  if (client.status === "ready") return Promise.resolve();
  if (client.status === "end") return Promise.reject(new Error("the client is closed"));
  const cause = (): unknown => connection.lastError ?? new Error("no connection");
  const waitsUntil = Math.min(call.endsAt, (connection.unavailableSince ?? performance.now()) + timeoutMs);
  if (client.status !== "wait" && waitsUntil <= performance.now()) return Promise.reject(cause());
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown): void => {
      clearTimeout(timer);
      connection.waiting.delete(settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => settle(cause()), Math.max(0, waitsUntil - performance.now()));
    connection.waiting.add(settle);
    // Its failure is told by the events.
    if (client.status === "wait") client.connect().catch(() => {});
  });
};
