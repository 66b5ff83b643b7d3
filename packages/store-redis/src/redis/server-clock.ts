import { loadScript } from "./load-script.ts";
import type { Call, RedisPort } from "./redis-port.ts";

/** The server's time, known here without asking each time. */
export interface ServerClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Asks the server. */
  read(call: Call): Promise<void>;
}

const timeScript = loadScript("server-time");

/**
 * Between two readings time goes by this process' monotonic clock, which nobody sets: `monotonic` is in milliseconds from any
 * beginning. The host's own date never matters.
 */
export const createServerClock = (port: RedisPort, key: string, monotonic: () => number): ServerClock => {
  /** The server's time at the monotonic clock's zero. */
  let offset: number | undefined;
  return {
    now: () => Math.floor((offset ?? 0) + monotonic()),
    read: async (call) => {
      const sentAt = monotonic();
      const [time] = (await port.send(call, [{ script: timeScript, keys: [key], args: [] }])) as [[string, string]];
      const answeredAt = monotonic();
      const at = Number(time[0]) * 1000 + Number(time[1]) / 1000;
      // It was read somewhere between. What agrees with that is left as it is, so that a slow answer does not make time jump.
      if (offset !== undefined && offset >= at - answeredAt && offset <= at - sentAt) return;
      offset = at - (sentAt + answeredAt) / 2;
    },
  };
};
