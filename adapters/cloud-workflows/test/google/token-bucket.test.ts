import { expect, test } from "@jest/globals";
import { quotasOf } from "../../src/google/quotas.ts";
import { tokenBucket } from "../../src/google/token-bucket.ts";

test("gives what it holds at once, then what comes again", async () => {
  let now = 0;
  const bucket = tokenBucket(3, 2, () => now);
  expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
  now = 1_000;
  expect(bucket.left()).toBe(2);
  expect(bucket.tryTake(1)).toBe(true);
  expect(bucket.tryTake(1)).toBe(false);
  expect(await bucket.take(0, new AbortController().signal)).toBe(true);
  expect(await bucket.take(100, new AbortController().signal)).toBe(false);
});

test("gives back what was given up", async () => {
  let now = 0;
  const bucket = tokenBucket(1, 1, () => now);
  expect(bucket.tryTake()).toBe(true);
  const giveUp = new AbortController();
  const takes = Array.from({ length: 50 }, () => bucket.take(60_000, giveUp.signal).catch(() => false));
  giveUp.abort();
  expect(await Promise.all(takes)).not.toContain(true);
  expect(await bucket.take(60_000, giveUp.signal)).toBe(false);
  now = 1_000;
  expect(bucket.tryTake()).toBe(true);
});

test.each([0.8, 1])("takes no more than its share of a minute, which begins with a full bucket: %s", (share) => {
  const { get, list } = quotasOf(share);
  const inAMinute = (held: number): number => held + held * 6;
  expect(inAMinute(get.left())).toBeLessThanOrEqual(6_000 * share);
  expect(inAMinute(list.left())).toBeLessThanOrEqual(1_200 * share);
});
