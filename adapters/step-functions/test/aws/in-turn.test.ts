import { expect, it } from "@jest/globals";
import { inTurn } from "../../src/aws/in-turn.ts";

it("runs so many at once, in order, whatever comes of each", async () => {
  const turn = inTurn(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: 5 }, (_, index) =>
    turn(async () => {
      begun.push(index);
      await new Promise<void>((resolve, reject) => {
        ends[index] = index === 0 ? () => reject(new Error("failed")) : resolve;
      });
      return index;
    }),
  );
  const settled = Promise.allSettled(all);
  for (const [index, before] of [
    [0, 2],
    [1, 3],
    [2, 4],
    [3, 5],
    [4, 5],
  ] as const) {
    expect(begun).toHaveLength(before);
    ends[index]?.();
    await all[index]?.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", ...Array(4).fill("fulfilled")]);
  expect(await turn(async () => 7)).toBe(7);
});
