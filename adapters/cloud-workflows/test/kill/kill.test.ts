import { expect, it } from "@jest/globals";
import { findFaults, isUnknown } from "./kill-report.ts";
import { killRun } from "./kill-run.ts";

/** `npm run soak` raises these, and leaves the adapter its own minute in which a list may not show an execution yet. */
const kills = Number(process.env.TASKBRIDGE_KILLS ?? 2);
const records = Number(process.env.TASKBRIDGE_KILL_RECORDS ?? 16);
const visibilityDelayMs = Number(process.env.TASKBRIDGE_KILL_VISIBILITY_DELAY_MS ?? 3_000);
const lagMs = Number(process.env.TASKBRIDGE_KILL_LAG_MS ?? 1_000);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

it(`start at most one execution for each of ${records} records over ${kills} kills of the server, while answers are lost and lists lag`, async () => {
  const { report, counts } = await killRun({ seed, kills, records, lostShare: 0.3, lagMs, visibilityDelayMs });
  const done = Object.entries(counts).map(([what, times]) => `${what} ×${times}`);
  const of = (kind: string): number => report.records.filter(({ order }) => order.kind === kind).length;
  const unknown = report.records.filter(isUnknown);
  process.stderr.write(
    `kill test: seed ${seed}, ${done.join(", ")}; records ${report.records.length} (${of("asks")} asked twice, ` +
      `${of("endless")} cancelled, ${unknown.length} with an unknown start), executions ${report.executions.length}, ` +
      `acknowledged ${report.acknowledged.length}\n`,
  );
  expect(findFaults(report)).toEqual([]);
  expect(report.records.length).toBeGreaterThanOrEqual(records);
  expect(report.acknowledged.length).toBeGreaterThan(records / 5);
  expect(counts["lost answer to a start"]).toBeGreaterThan(records / 10);
  // A kill costs the starts that it meets on their way, and those alone.
  expect(report.records.length - unknown.length).toBeGreaterThan(records / 2);
  expect(of("asks")).toBeGreaterThan(0);
  expect(of("endless")).toBeGreaterThan(0);
}, 1_190_000);

it("would be noticed if a start were sent again", async () => {
  const plan = { seed, kills: 0, records: 4, lostShare: 1, maxLost: 1, lagMs: 0, mutant: "sent-again" } as const;
  const { report } = await killRun(plan);
  expect(findFaults(report)).toContainEqual(expect.stringMatching(/has [2-9] executions$/));
}, 120_000);
