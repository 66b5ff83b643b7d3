import { expect, it } from "@jest/globals";
import { quotasOf } from "../../src/aws/quotas.ts";
import { tokenBucket } from "../../src/aws/token-bucket.ts";

const never = new AbortController().signal;

it("gives its burst at once, then what its rate brings", async () => {
  let now = 0;
  const bucket = tokenBucket(3, 2, () => now);
  expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
  now += 500;
  expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
  now += 60_000;
  expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
});

it("keeps a reserve for those that may have it", () => {
  const bucket = tokenBucket(3, 1, () => 0);
  expect([bucket.tryTake(2), bucket.tryTake(2), bucket.tryTake()]).toEqual([true, false, true]);
});

it("lets those wait who come in time, in turn, and takes nothing from the others", async () => {
  const bucket = tokenBucket(1, 100);
  const waits = [1, 2, 3].map(() => bucket.take(1_000, never));
  expect(await bucket.take(5, never)).toBe(false);
  expect(await Promise.all(waits)).toEqual([true, true, true]);
});

it("gives up waiting when its signal fires or has fired, with nothing taken", async () => {
  let now = 0;
  const bucket = tokenBucket(1, 1, () => now);
  expect(bucket.tryTake()).toBe(true);
  const abort = new AbortController();
  const waits = Array.from({ length: 50 }, () => bucket.take(60_000, abort.signal));
  abort.abort();
  const ends = await Promise.allSettled([...waits, bucket.take(60_000, abort.signal)]);
  const givenUp = { status: "rejected", reason: expect.objectContaining({ name: "AbortError" }) };
  expect(ends).toEqual(Array(51).fill(givenUp));
  now += 1_000;
  expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
});

it("knows which regions have the larger rates", () => {
  const count = (region: string): number => {
    const { list } = quotasOf(region, 0.5);
    let taken = 0;
    while (list.tryTake()) taken++;
    return taken;
  };
  expect([count("us-east-1"), count("eu-central-1")]).toEqual([100, 50]);
});
