import { expect, it } from "@jest/globals";
import { findFaults } from "./kill-report.ts";
import { killRun } from "./kill-run.ts";

/** `npm run soak` raises these. */
const kills = Number(process.env.TASKBRIDGE_KILLS ?? 2);
const records = Number(process.env.TASKBRIDGE_KILL_RECORDS ?? 16);
const lagMs = Number(process.env.TASKBRIDGE_KILL_LAG_MS ?? 1_500);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

it(`start one execution for each of ${records} records over ${kills} kills of the server, while answers are lost and descriptions lag`, async () => {
  const { report, counts } = await killRun({ seed, kills, records, lostShare: 0.3, lagMs });
  const done = Object.entries(counts).map(([what, times]) => `${what} ×${times}`);
  const of = (kind: string): number => report.records.filter(({ order }) => order.kind === kind).length;
  process.stderr.write(
    `kill test: seed ${seed}, ${done.join(", ")}; records ${report.records.length} (${of("asks")} asked twice, ` +
      `${of("endless")} cancelled), executions ${report.executions.length}, acknowledged ${report.acknowledged.length}\n`,
  );
  expect(findFaults(report)).toEqual([]);
  expect(report.records.length).toBeGreaterThanOrEqual(records);
  expect(report.acknowledged.length).toBeGreaterThan(records / 5);
  expect(counts["lost answer to StartExecution"]).toBeGreaterThan(records / 10);
  expect(of("asks")).toBeGreaterThan(0);
  expect(of("endless")).toBeGreaterThan(0);
}, 590_000);

it("would be noticed if each attempt had a name of its own", async () => {
  const plan = { seed, kills: 0, records: 6, lostShare: 0.5, lagMs: 0, mutant: "key-per-attempt" } as const;
  const { report } = await killRun(plan);
  expect(findFaults(report)).toContainEqual(expect.stringMatching(/runs for no record$/));
}, 120_000);
