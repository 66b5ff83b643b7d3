import { describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { createStoreProbe, type StoreProbe } from "../../src/health/store-probe.ts";

type Ask = () => Promise<string | undefined>;

const there: Ask = async () => undefined;
const unavailable: Ask = async () => {
  throw new Error("connection refused");
};
const silent: Ask = () => new Promise(() => {});

const setUp = () => {
  const clock = fakeClock();
  const lines: string[] = [];
  const write = (_fields: object, message: string): void => void lines.push(message);
  const log = { debug: write, info: write, warn: write, error: write };
  const asked: Ask[] = [];
  let answer = there;
  const store = {
    probe: async () => {
      asked.push(answer);
      await answer();
    },
    values: memoryStore().values,
  };
  const probe: StoreProbe = createStoreProbe({ store, clock, log });
  return {
    clock,
    lines,
    probe,
    asked,
    becomes: (next: Ask) => {
      answer = next;
    },
  };
};

describe("a store", () => {
  test("is asked once by all who ask within a second, and then again", async () => {
    const { probe, asked, clock } = setUp();
    const first = await Promise.all(Array.from({ length: 50 }, () => probe.ask()));
    expect([first[0], asked.length]).toEqual([{ answers: true, unavailableForMs: 0 }, 1]);
    await clock.advance(999);
    await probe.ask();
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await probe.ask();
    expect(asked).toHaveLength(2);
  });

  test("that fails is away since it was first noticed, and back with its first answer", async () => {
    const { probe, clock, becomes } = setUp();
    await probe.ask();
    becomes(unavailable);
    const reported = [];
    for (let seconds = 0; seconds < 3; seconds++) {
      await clock.advance(2_000);
      reported.push(await probe.ask());
    }
    expect(reported).toEqual([0, 2_000, 4_000].map((unavailableForMs) => ({ answers: false, unavailableForMs })));
    becomes(there);
    await clock.advance(1_000);
    expect(await probe.ask()).toEqual({ answers: true, unavailableForMs: 0 });
  });

  test("that says nothing is away within a second", async () => {
    const { probe, clock, becomes } = setUp();
    await probe.ask();
    becomes(silent);
    await clock.advance(1_000);
    const asking = probe.ask();
    await clock.advance(900);
    expect(await asking).toEqual({ answers: false, unavailableForMs: 0 });
  });

  test("that has never answered has been away for ever", async () => {
    const { probe, becomes } = setUp();
    becomes(unavailable);
    expect(await probe.ask()).toEqual({ answers: false, unavailableForMs: Number.POSITIVE_INFINITY });
  });

  test("is logged when it goes and when it comes back, once each", async () => {
    const { probe, clock, becomes, lines } = setUp();
    for (const state of [there, unavailable, unavailable, unavailable, there, there]) {
      becomes(state);
      await clock.advance(1_000);
      await probe.ask();
    }
    expect(lines).toEqual(["the store does not answer", "the store answers again"]);
  });
});
