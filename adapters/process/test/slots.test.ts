import { describe, expect, it } from "@jest/globals";
import { slots } from "../src/slots.ts";

const never = new AbortController().signal;

describe("slots", () => {
  it("let only so many run, in order, and go on after a failure", async () => {
    const boots = slots(2);
    const order: number[] = [];
    let running = 0;
    let limit = 0;
    const work = (number: number) => async () => {
      order.push(number);
      limit = Math.max(limit, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      if (number === 1) throw new Error("one failed");
      return number;
    };
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map((number) => boots.hold(work(number), never)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(limit).toBe(2);
  });

  it("are not taken by those who give up", async () => {
    const boots = slots(1);
    let finish = (): void => {};
    const first = boots.hold(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
      never,
    );
    const abort = new AbortController();
    const second = boots.hold(async () => "ran", abort.signal);
    const third = boots.hold(async () => "ran", never);
    abort.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    finish();
    await first;
    expect(await third).toBe("ran");
  });
});
