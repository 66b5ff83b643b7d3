import { expect, it } from "@jest/globals";
import { describeRolling, roll } from "./roll.ts";

describeRolling("a rolling restart of two replicas that do not drain", () => {
  it("is noticed to fail requests", async () => {
    const rolled = await roll("--polls", "50", "--rounds", "1", "--replicas", "2", "--drain", "0");
    expect(rolled.drainFaults.length + Object.keys(rolled.failed).length).toBeGreaterThan(0);
  }, 570_000);
});
