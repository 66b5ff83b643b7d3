import { describe, expect, it } from "@jest/globals";
import { latencies, timeAll } from "../src/latencies.ts";

describe("latencies", () => {
  it("tells the value that so many of a hundred do not exceed", () => {
    const taken = latencies();
    for (let ms = 200; ms >= 1; ms--) taken.add(ms);
    taken.addElapsed(2_000);
    expect(taken.figures()).toEqual({ count: 200, perSecond: 100, p50Ms: 100, p99Ms: 198, maxMs: 200 });
  });

  it("tells nothing of nothing", () => {
    expect(() => latencies().figures()).toThrow("nothing was measured");
  });
});

describe("timeAll", () => {
  it("carries out every operation once, so many at a time", async () => {
    const done: number[] = [];
    let running = 0;
    let limit = 0;
    const operations = Array.from({ length: 10 }, (_, index) => async () => {
      running++;
      limit = Math.max(limit, running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      done.push(index);
    });
    const taken = latencies();
    await timeAll(operations, 3, taken);
    expect(done.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(limit).toBe(3);
    expect(taken.figures().count).toBe(10);
  });

  it("rejects with what an operation rejects with", async () => {
    const fail = (): Promise<never> => Promise.reject(new Error("the store does not find it"));
    await expect(timeAll([fail], 1, latencies())).rejects.toThrow("does not find it");
  });
});
