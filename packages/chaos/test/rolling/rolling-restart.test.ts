import { expect, it } from "@jest/globals";
import { describeRolling, roll } from "./roll.ts";

/** `npm run soak` raises these. */
const polls = process.env.TASKBRIDGE_ROLL_POLLS ?? "20";
const rounds = process.env.TASKBRIDGE_ROLL_ROUNDS ?? "1";
const replicas = process.env.TASKBRIDGE_ROLL_REPLICAS ?? "2";
const warmMs = process.env.TASKBRIDGE_ROLL_WARM_MS ?? "2000";

describeRolling(`a rolling restart of ${replicas} replicas`, () => {
  it("leaves no poll wrong, none unanswered at a replica that was told to stop, and no call of our client failed", async () => {
    const rolled = await roll("--polls", polls, "--rounds", rounds, "--replicas", replicas, "--warm", warmMs);
    expect(rolled).toMatchObject({ wrong: [], callsFailed: [], drainFaults: [] });
    expect(rolled.restarts).toBe(Number(replicas) * Number(rounds));
    expect(rolled.done).toBeGreaterThan(rolled.restarts);
    expect(rolled.answered).toBeGreaterThan(100);
    const failed = Object.values(rolled.failed).reduce((sum, times) => sum + times, 0);
    expect(failed).toBeLessThanOrEqual(rolled.answered / 100);
  }, 570_000);
});
