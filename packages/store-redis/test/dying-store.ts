import { performance } from "node:perf_hooks";
import { BridgeError, type TaskStore } from "@taskbridge/core/store";
import { createKeys } from "../src/keys.ts";
import { parseOptions } from "../src/parse-options.ts";
import { type Connection, openConnection } from "../src/redis/connection.ts";
import type { Call, Command, RedisPort, Reply } from "../src/redis/redis-port.ts";
import { createServerClock } from "../src/redis/server-clock.ts";
import { storeOn } from "../src/redis-store.ts";

/** In what order the commands of one stage arrive, of which none is promised. */
export type Order = "as sent" | "reversed";

/** A process that dies after so many commands, wherever that is. */
export interface Dying {
  readonly store: TaskStore;
  /** Whether it has died. */
  readonly isDead: () => boolean;
}

export interface DyingStores {
  /** As a process that has only just begun. */
  fresh(): TaskStore;
  /** Notes the round trips to one server: how many commands each has. */
  counting(): { readonly store: TaskStore; readonly trips: number[] };
  /** A process that stands still before so many round trips are over, until it is woken. */
  stall(after: number): { readonly store: TaskStore; readonly isStill: Promise<void>; wake(): void };
  /** A process to which something happens before each of its commands, numbered from 0. */
  interrupt(before: (number: number, command: Command) => Promise<void>): TaskStore;
  die(after: number, order: Order): Dying;
  close(): void;
}

/** Stores on one connection, whose attempts to create have little time. */
export const openDyingStores = async (url: string, prefix: string, callMs: number): Promise<DyingStores> => {
  const callsOf =
    (ms: number) =>
    (operation: string, isDurable = false): Call => ({ operation, isDurable, endsAt: performance.now() + ms });
  const opening: Call = { operation: "open", isDurable: false, endsAt: performance.now() + 20_000 };
  const connection: Connection = await openConnection(
    parseOptions({ url, prefix, operationTimeoutMs: 20_000 }),
    opening,
  );
  const keys = createKeys(prefix);
  const clock = createServerClock(connection.port, keys.clock, () => performance.now());
  await clock.read(opening);
  const storeVia = (port: RedisPort, ms: number): TaskStore => {
    const context = { port, keys, now: clock.now, readTime: async () => {}, announce: () => {} };
    return storeOn(context, callsOf(ms), { watch: () => () => {}, close: async () => {} });
  };
  /** Sends commands one after the other. `before` gets each and its number, from 0. */
  const oneByOne = (order: Order, before: (number: number, command: Command) => Promise<void>): RedisPort => {
    let sent = 0;
    return {
      send: async (call, ...stages) => {
        const replies: Reply[] = [];
        for (const stage of stages) {
          const answers = new Map<number, Reply>();
          const locations = [...stage.keys()];
          for (const location of order === "reversed" ? locations.toReversed() : locations) {
            const command = stage[location];
            if (command === undefined) continue;
            await before(sent, command);
            sent += 1;
            answers.set(location, (await connection.port.send(call, [command]))[0] ?? null);
          }
          replies.push(...locations.map((location) => answers.get(location) ?? null));
        }
        return replies;
      },
    };
  };
  return {
    counting: () => {
      const trips: number[] = [];
      const port: RedisPort = {
        send: (call, ...stages) => {
          if (stages.flat().length > 0) trips.push(stages.flat().length);
          return connection.port.send(call, ...stages);
        },
      };
      return { store: storeVia(port, 5000), trips };
    },
    stall: (after) => {
      let left = after;
      let placeholders = (): void => {};
      let wake = (): void => {};
      const isStill = new Promise<void>((resolve) => {
        placeholders = resolve;
      });
      const isWoken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const port: RedisPort = {
        send: async (call, ...stages) => {
          if (left-- === 0) {
            placeholders();
            await isWoken;
          }
          // What it had prepared goes out however late, as from a process that was stopped.
          return connection.port.send({ ...call, endsAt: performance.now() + 5000 }, ...stages);
        },
      };
      return { store: storeVia(port, callMs), isStill, wake: () => wake() };
    },
    fresh: () => storeVia(connection.port, 5000),
    interrupt: (before) => storeVia(oneByOne("as sent", before), 5000),
    die: (after, order) => {
      let isDead = false;
      const port = oneByOne(order, async (command) => {
        isDead ||= command >= after;
        if (isDead) throw new BridgeError("unavailable", "the process is dead");
      });
      return { store: storeVia(port, callMs), isDead: () => isDead };
    },
    close: connection.close,
  };
};
