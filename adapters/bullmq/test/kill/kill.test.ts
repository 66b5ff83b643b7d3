import { expect, it } from "@jest/globals";
import { describeRedis } from "../redis-bench.ts";
import { findFaults } from "./kill-report.ts";
import { killRun } from "./kill-run.ts";

/** `npm run soak` raises these. */
const kills = Number(process.env.TASKBRIDGE_KILLS ?? 3);
const records = Number(process.env.TASKBRIDGE_KILL_RECORDS ?? 16);
const redisRestarts = Number(process.env.TASKBRIDGE_KILL_REDIS ?? 1);
const seed = Number(process.env.TASKBRIDGE_KILL_SEED ?? 20261129);

describeRedis(
  "kills while jobs are started",
  () => {
    it(`start one job for each of ${records} records over ${kills} kills of the server and ${redisRestarts} of Redis`, async () => {
      const { report, counts } = await killRun({ seed, kills, records, redisRestarts, lostShare: 0.3 });
      const stalled = report.jobs.filter(({ stalls }) => stalls > 0).length;
      const done = Object.entries(counts).map(([what, times]) => `${what} ×${times}`);
      process.stderr.write(
        `kill test: seed ${seed}, ${done.join(", ")}; records ${report.records.length}, jobs ${report.jobs.length}, ` +
          `runs ${report.journal.length} (${stalled} jobs stalled), acknowledged ${report.acknowledged.size}\n`,
      );
      expect(findFaults(report)).toEqual([]);
      expect(report.records.length).toBeGreaterThanOrEqual(records);
      expect(report.acknowledged.size).toBeGreaterThan(records / 5);
      expect(counts["lost answer"]).toBeGreaterThan(records / 10);
      expect(counts["Redis restart"]).toBe(redisRestarts);
    }, 590_000);

    it("would be noticed if each attempt had a job ID of its own", async () => {
      const plan = {
        seed,
        kills: 0,
        records: 4,
        redisRestarts: 0,
        lostShare: 1,
        maxLost: 1,
        mutant: "key-per-attempt",
      } as const;
      const { report } = await killRun(plan);
      expect(findFaults(report)).toContainEqual(expect.stringMatching(/^call \d+ has [2-9] jobs/));
    }, 60_000);
  },
  true,
);
