import { expect, it } from "@jest/globals";
import { seeded } from "@taskbridge/testkit";
import { drawPlan } from "../src/faults/draw-plan.ts";

const options = { lengthMs: 60_000, replicas: 3, workers: 4, isNetworked: true };

it("draws the same plan from the same seed, and another from another", () => {
  const draw = (seed: number) => drawPlan({ ...options, random: seeded(seed) });
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

it("has every kind of fault in a minute, each within the run and at something that is there", () => {
  for (let seed = 0; seed < 50; seed++) {
    const plan = drawPlan({ ...options, random: seeded(seed) });
    expect(new Set(plan.map(({ kind }) => kind)).size).toBe(10);
    for (const { atMs, kind, target } of plan) {
      expect(atMs).toBeLessThan(options.lengthMs);
      expect(target).toBeLessThan(kind === "kill worker" ? 4 : 3);
    }
  }
});

it("kills no store that is a file, and cuts nobody off from it", () => {
  const plan = drawPlan({ ...options, isNetworked: false, lengthMs: 600_000, random: seeded(1) });
  expect(plan.filter(({ kind, link }) => kind === "restart store" || link === "store")).toEqual([]);
});
