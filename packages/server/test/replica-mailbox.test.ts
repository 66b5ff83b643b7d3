import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import { fakeClock } from "@taskbridge/testkit";
import { createReplicaMailbox, type ReplicaMailbox, type Reply } from "../src/replica-mailbox.ts";
import { createSealer } from "../src/sealer.ts";
import { silentLog } from "../src/server-log.ts";
import { eventually } from "./serve.ts";

const open: ReplicaMailbox[] = [];
afterEach(() => {
  for (const mailbox of open.splice(0)) mailbox.close();
});

const key = new Uint8Array(32).fill(7);
const clock = fakeClock();
const connect = (store: Pick<TaskStore, "values">, { isShared = true, sealKey = key } = {}): ReplicaMailbox => {
  const sealer = createSealer(sealKey);
  const mailbox = createReplicaMailbox({ store, sealer, clock, storeNow: () => clock.now(), log: silentLog, isShared });
  open.push(mailbox);
  return mailbox;
};

const reply = (id: string, message: object, sender = id): Reply => ({ id, message, sender });

/** What has come so far. */
const expecting = (mailbox: ReplicaMailbox, id: string): readonly object[] => {
  const taken: object[] = [];
  mailbox.expect(id, (message) => void taken.push(message));
  return taken;
};

/** Everything that the store keeps under names of its own. */
const spied = (store: TaskStore) => {
  const kept = new Map<string, string>();
  let reads = 0;
  let writes = 0;
  return {
    kept,
    reads: () => reads,
    writes: () => writes,
    store: {
      values: {
        read: (name: string) => {
          reads += 1;
          return store.values.read(name);
        },
        write: async (name: string, value: string, previous: string | undefined) => {
          const isWritten = await store.values.write(name, value, previous);
          if (isWritten) kept.set(name, value);
          if (isWritten) writes += 1;
          return isWritten;
        },
      },
    },
  };
};

describe("letters between replicas", () => {
  test("come to whom they are sent, once, and leave nothing behind", async () => {
    const { store, kept } = spied(memoryStore());
    const [one, two, three] = [connect(store), connect(store), connect(store)];
    const [mine, others] = [expecting(one, "a"), expecting(three, "a")];
    await two.send(one.address, reply("a", { result: "hello" }));
    await two.send(one.address, reply("a", { result: "instead" }));
    await two.send(one.address, reply("nobody waits for this", { result: "lost" }));
    await clock.advance(5_000);
    expect([mine, others]).toEqual([[{ result: "instead" }], []]);
    expect([...kept.values()]).toEqual(["[]"]);
  });

  test("cannot be read or written without the key", async () => {
    const { store, kept } = spied(memoryStore());
    const [one, two] = [connect(store), connect(store)];
    const stranger = connect(store, { sealKey: new Uint8Array(32).fill(8) });
    const mine = expecting(one, "a");
    await stranger.send(one.address, reply("a", { result: "forged" }));
    await clock.advance(1_000);
    expect(mine).toEqual([]);
    await two.send(one.address, reply("a", { result: "a secret word" }));
    expect([...kept.values()].join()).not.toContain("secret");
    await clock.advance(1_000);
    expect(mine).toEqual([{ result: "a secret word" }]);
  });

  test("all arrive when many are sent at the same time, by one process and by many", async () => {
    const { store, writes } = spied(memoryStore());
    const one = connect(store);
    const taken = Array.from({ length: 220 }, (_, index) => expecting(one, `${index}`));
    const many = Array.from({ length: 20 }, () => connect(store));
    const busy = connect(store);
    let isSent = false;
    const sent = Promise.all(
      taken.map((_, index) => (many[index] ?? busy).send(one.address, reply(`${index}`, { index }))),
    ).finally(() => {
      isSent = true;
    });
    await eventually(async () => {
      await clock.advance(10);
      return isSent;
    });
    await sent;
    await clock.advance(3_000);
    expect(taken).toEqual(taken.map((_, index) => [{ index }]));
    // Those of one process go out together.
    expect(writes()).toBeLessThan(40);
  });

  test("of one sender leave room for those of others, however often and by however many processes they are sent", async () => {
    const { store, kept } = spied(memoryStore());
    const [one, two, three] = [connect(store), connect(store), connect(store)];
    const mine = expecting(one, "victim");
    const big = { result: "x".repeat(150_000) };
    for (let count = 0; count < 5; count++) await two.send(one.address, reply("same", big, "flood"));
    expect(JSON.parse([...kept.values()].join())).toHaveLength(1);
    await three.send(one.address, reply("other", big, "flood"));
    await expect(three.send(one.address, reply("third", big, "flood"))).rejects.toThrow("of one sender");
    const flood = Array.from({ length: 50 }, (_, index) => two.send(one.address, reply(`${index}`, big, "flood")));
    const results = Promise.allSettled(flood);
    await two.send(one.address, reply("victim", { result: 1 }));
    expect((await results).filter(({ status }) => status === "fulfilled")).toEqual([]);
    await clock.advance(2_000);
    expect(mine).toEqual([{ result: 1 }]);
  });

  test.each(["[null]", '[7, {}, [], "x"]', '[{"to":"x","id":"y"}]', "{}", "nonsense"])(
    "arrive in a box that holds %s, which makes room",
    async (junk) => {
      const shared = memoryStore();
      const { store, kept } = spied(shared);
      const [one, two] = [connect(store), connect(store)];
      const mine = expecting(one, "a");
      for (let box = 0; box < 64; box++) await shared.values.write(`server:mailbox:${box}`, junk, undefined);
      await two.send(one.address, reply("a", { result: 1 }));
      expect(JSON.parse([...kept.values()].join())).toMatchObject([{ id: "a" }]);
      await clock.advance(1_000);
      expect(mine).toEqual([{ result: 1 }]);
    },
  );

  test("are given up when their sender is closed, also while others write all the time", async () => {
    const store = { values: { read: async () => undefined, write: async () => false } };
    const [one, two] = [connect(store), connect(store)];
    const before = clock.scheduled;
    const sent = two.send(one.address, reply("a", {}));
    await clock.settle();
    expect(clock.scheduled).toBe(before + 1);
    two.close();
    await expect(sent).rejects.toThrow("was closed");
    expect(clock.scheduled).toBe(before);
    await expect(two.send(one.address, reply("b", {}))).rejects.toThrow("was closed");
  });

  test("arrive after the store has failed", async () => {
    const shared = memoryStore();
    let isDown = false;
    const store = {
      values: {
        write: shared.values.write,
        read: async (name: string) => {
          if (isDown) throw new Error("down");
          return shared.values.read(name);
        },
      },
    };
    const [one, two] = [connect(store), connect(store)];
    const mine = expecting(one, "a");
    await two.send(one.address, reply("a", { result: 1 }));
    isDown = true;
    await clock.advance(3_000);
    await expect(two.send(one.address, reply("a", {}))).rejects.toThrow("down");
    isDown = false;
    await clock.advance(1_000);
    expect(mine).toEqual([{ result: 1 }]);
  });

  test("are not looked for while nothing is waited for, nor where nobody else could write them", async () => {
    const { store, reads } = spied(memoryStore());
    const [one, alone] = [connect(store), connect(store, { isShared: false })];
    const stop = one.expect("a", () => {});
    expecting(alone, "b");
    await clock.advance(3_000);
    expect(reads()).toBe(3);
    stop();
    await clock.advance(10_000);
    expect(reads()).toBe(4);
    await alone.send(one.address, reply("a", {}));
    await one.send(one.address, reply("a", {}));
    expect(reads()).toBe(4);
  });

  test("that nobody fetches make room in time, and what is far too long is refused", async () => {
    const { store, kept } = spied(memoryStore());
    const [one, two] = [connect(store), connect(store)];
    await two.send(one.address, reply("a", { result: 1 }));
    await clock.advance(130_000);
    await two.send(one.address, reply("b", { result: 2 }));
    expect(JSON.parse([...kept.values()].join())).toMatchObject([{ id: "b" }]);
    await expect(two.send(one.address, reply("c", { result: "x".repeat(300_000) }))).rejects.toThrow("too long");
    const big = { result: "x".repeat(150_000) };
    for (let count = 0; count < 5; count++) await two.send(one.address, reply(`${count}`, big));
    await expect(two.send(one.address, reply("last", big))).rejects.toThrow("too many");
  });
});
