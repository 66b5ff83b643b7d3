import { describe, expect, it } from "@jest/globals";
import { fakeClock } from "../../src/testing.ts";

describe("fakeClock", () => {
  it("runs actions at their own instants, earliest first, ties in the order they were scheduled", async () => {
    const clock = fakeClock(1000);
    const seen: [string, number][] = [];
    for (const [name, delayMs] of [
      ["late", 30],
      ["first", 10],
      ["second", 10],
    ] as const) {
      clock.schedule(delayMs, () => seen.push([name, clock.now()]));
    }
    await clock.advance(29);
    expect(seen).toEqual([
      ["first", 1010],
      ["second", 1010],
    ]);
    expect(clock.now()).toBe(1029);
    await clock.advance(1);
    expect(seen.at(-1)).toEqual(["late", 1030]);
    expect(clock.scheduled).toBe(0);
  });

  it("lets promises settle between actions and runs what they schedule on the way", async () => {
    const clock = fakeClock(0);
    const instants: number[] = [];
    const tick = async (): Promise<void> => {
      await Promise.resolve().then(() => Promise.resolve());
      instants.push(clock.now());
      if (instants.length < 5) clock.schedule(5, () => void tick());
    };
    clock.schedule(5, () => void tick());
    clock.schedule(12, () => instants.push(-1));
    await clock.advance(100);
    expect(instants).toEqual([5, 10, -1, 15, 20]);
  });

  it("does not run what was called off", async () => {
    const clock = fakeClock();
    let ran = 0;
    const callOff = clock.schedule(5, () => ran++);
    clock.schedule(4, callOff);
    await clock.advance(10);
    expect(ran).toBe(0);
  });

  it("settles promises without moving time", async () => {
    const clock = fakeClock(7);
    let settled = false;
    void (async () => {
      for (let step = 0; step < 50; step++) await null;
      settled = true;
    })();
    await clock.settle();
    expect([settled, clock.now()]).toEqual([true, 7]);
  });
});
