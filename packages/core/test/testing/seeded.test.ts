import { expect, it } from "@jest/globals";
import { seeded } from "../../src/testing/seeded.ts";

it("draws the same numbers from 0 to 1 for the same seed, and others for another", () => {
  const draw = (seed: number): readonly number[] => Array.from({ length: 1_000 }, seeded(seed));
  const numbers = draw(7);
  expect(draw(7)).toEqual(numbers);
  expect(draw(8)).not.toEqual(numbers);
  expect(new Set(numbers).size).toBe(1_000);
  expect(numbers.every((drawn) => drawn >= 0 && drawn < 1)).toBe(true);
});
