import { expect, it } from "@jest/globals";
import { findFaults } from "./kill-report.ts";
import { killRun } from "./kill-run.ts";

const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

it("stops an execution that was cancelled while the answer to its start was lost, although AWS shows it later than a call may take", async () => {
  const { report, counts } = await killRun({ seed, kills: 0, records: 40, lostShare: 0.6, lagMs: 5_000 });
  expect(findFaults(report)).toEqual([]);
  expect(counts["lost answer to StartExecution"]).toBeGreaterThan(10);
}, 240_000);
