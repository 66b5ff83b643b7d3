import { expect, it } from "@jest/globals";
import { findFaults, killRun } from "./kill-run.ts";

/** `npm run soak` raises these. */
const kills = Number(process.env.TASKBRIDGE_KILLS ?? 5);
const records = Number(process.env.TASKBRIDGE_KILL_RECORDS ?? 40);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

it(`start one execution for each of ${records} records over ${kills} kills of the server, while answers are lost and descriptions lag`, async () => {
  const outcome = await killRun({ seed, kills, records, lostShare: 0.3, lagMs: 5_000 });
  const done = Object.entries(outcome.counts).map(([what, times]) => `${what} ×${times}`);
  process.stderr.write(
    `kill test: seed ${seed}, ${done.join(", ")}; records ${outcome.records.length}, ` +
      `executions ${outcome.executions.length}, acknowledged ${outcome.acknowledged.length}\n`,
  );
  expect(findFaults(outcome)).toEqual([]);
  expect(outcome.records.length).toBeGreaterThanOrEqual(records);
  expect(outcome.acknowledged.length).toBeGreaterThan(records / 5);
  expect(outcome.counts["lost answer"]).toBeGreaterThan(records / 10);
}, 590_000);

it("would be noticed if each attempt had a name of its own", async () => {
  const plan = { seed, kills: 0, records: 6, lostShare: 0.5, lagMs: 0, mutant: "key-per-attempt" } as const;
  const faults = findFaults(await killRun(plan));
  expect(faults).toContainEqual(expect.stringMatching(/runs for no record$/));
}, 120_000);
