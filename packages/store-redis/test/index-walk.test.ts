import { createHash } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { walkSets } from "../src/records/index-walk.ts";
import type { Call, Command, RedisPort } from "../src/redis/redis-port.ts";

const call: Call = { operation: "list", endsAt: Number.POSITIVE_INFINITY, isDurable: false };
const sets = Array.from({ length: 256 }, (_, index) => `set-${index}`);

/** Entries as they sort: the time, then what tells them apart. */
const entryAt = (number: number): string => number.toString(16).padStart(16, "0") + number;

/** A Redis with sorted sets of these entries, which counts round trips. */
const portOf = (held: ReadonlyMap<string, readonly string[]>) => {
  let roundTrips = 0;
  const answer = (command: Command): string[][] => {
    if (!("forEach" in command)) throw new Error("only pages are asked for");
    const [count] = command.first;
    return command.locations.map(({ keys: [set = ""], args: [below] }) => {
      const entries = (held.get(set) ?? []).filter((entry) => below === "+" || `(${entry}` < String(below));
      return entries.slice(0, Number(count));
    });
  };
  const port: RedisPort = {
    send: async (_call, ...stages) => {
      roundTrips += 1;
      return stages.flat().map(answer);
    },
  };
  return { port, roundTrips: () => roundTrips };
};

/** So many entries, spread as IDs are by their hash. */
const spreadOut = (count: number, locations: readonly string[]): Map<string, string[]> => {
  const held = new Map<string, string[]>();
  for (let number = count - 1; number >= 0; number--) {
    const [drawn = 0] = createHash("sha1").update(String(number)).digest();
    const location = locations[drawn % locations.length] as string;
    const entries = held.get(location) ?? [];
    entries.push(entryAt(number));
    held.set(location, entries);
  }
  return held;
};

const newest = (count: number, from: number): string[] =>
  Array.from({ length: count }, (_, index) => entryAt(from - 1 - index));

describe("walking all shards as one", () => {
  it.each([51, 201, 512])("tells the newest %i of many in one round trip", async (count) => {
    const { port, roundTrips } = portOf(spreadOut(20_000, sets));
    expect(await walkSets(port, call, sets, undefined).next(count)).toEqual(newest(count, 20_000));
    expect(roundTrips()).toBe(1);
  });

  it("goes on where it was, and to the end", async () => {
    const { port, roundTrips } = portOf(spreadOut(3_000, sets));
    const walk = walkSets(port, call, sets, undefined);
    const reported: string[] = [];
    for (let part = await walk.next(200); part.length > 0; part = await walk.next(200)) reported.push(...part);
    expect(reported).toEqual(newest(3_000, 3_000));
    expect(roundTrips()).toBeLessThanOrEqual(20);
  });

  it("begins below an entry", async () => {
    const { port } = portOf(spreadOut(1_000, sets));
    expect(await walkSets(port, call, sets, entryAt(500)).next(50)).toEqual(newest(50, 500));
  });

  it("tells them in order although all are in one shard", async () => {
    const { port } = portOf(spreadOut(300, ["set-7"]));
    const walk = walkSets(port, call, sets, undefined);
    expect([...(await walk.next(100)), ...(await walk.next(300))]).toEqual(newest(300, 300));
  });
});
