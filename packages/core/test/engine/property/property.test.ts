import { expect, it } from "@jest/globals";
import fc from "fast-check";
import { scenarios } from "./commands.ts";
import { play } from "./play.ts";

/** `npm run soak` raises it. */
const numRuns = Number(process.env.TASKBRIDGE_PROPERTY_RUNS ?? 150);
const seed = Number(process.env.TASKBRIDGE_PROPERTY_SEED ?? 20_260_101);

it(
  "keeps its promises whatever happens, in any order",
  async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const startedAt = performance.now();
    try {
      await fc.assert(
        fc.asyncProperty(scenarios(), async (scenario) => {
          await play(scenario);
          if (unhandled.length > 0) throw new Error(`a rejection that nobody handled: ${String(unhandled.shift())}`);
        }),
        { numRuns, seed },
      );
    } finally {
      process.off("unhandledRejection", note);
    }
    const perSecond = Math.round((numRuns * 1_000) / (performance.now() - startedAt));
    process.stderr.write(`${numRuns} scenarios, seed ${seed}, ${perSecond} a second\n`);
    expect(unhandled).toEqual([]);
  },
  30 * 60_000,
);
