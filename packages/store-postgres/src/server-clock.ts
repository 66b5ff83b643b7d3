import { performance } from "node:perf_hooks";
import type { Connection } from "./connection.ts";

/** The server's clock, as it is known here. */
export interface ServerClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Looks at the server's at once, where something speaks against what is known. Never rejects. */
  compare(): Promise<void>;
  stop(): void;
}

/** How often the two are compared: quartz drifts by less than a millisecond in that time. */
const everyMs = 10_000;

const askTime = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now";

/**
 * Compares the server's clock with one of ours now and then, and goes by ours in between. What an answer tells is exact to
 * half its round trip; what is known is given up only where an answer contradicts it or is the more exact.
 * @param local A clock that only moves forward (milliseconds from anywhere). Default: the process's own.
 * @param onTick Called after each comparison.
 * @param repeat Runs something now and then until what it returns is called; for tests.
 */
export const startServerClock = async (
  connection: Connection,
  local: () => number = () => performance.now(),
  onTick: () => void = () => undefined,
  repeat: (action: () => Promise<void>) => () => void = repeatUnnoticed,
): Promise<ServerClock> => {
  /** The server's clock less ours, and by how much that may be wrong. */
  let offset = 0;
  let exactness = Number.POSITIVE_INFINITY;

  const compare = async (): Promise<void> => {
    const askedAt = local();
    const [answer] = await connection.query<{ readonly now: number }>("now", { text: askTime, isRead: true });
    const answeredAt = local();
    const half = (answeredAt - askedAt) / 2;
    const measured = (answer?.now ?? 0) - (askedAt + half);
    if (Math.abs(measured - offset) <= half && exactness <= half) return;
    offset = measured;
    exactness = half;
  };

  // The first statement of a connection takes longer than those after it.
  await compare();
  await compare();
  // Missed while the server is away: what is known goes on to hold.
  const ignore = (): void => undefined;
  const stop = repeat(() => compare().then(onTick, ignore));
  return { now: () => local() + offset, compare: () => compare().catch(ignore), stop };
};

/** Keeps no process alive. */
const repeatUnnoticed = (action: () => Promise<void>): (() => void) => {
  const timer = setInterval(action, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};
