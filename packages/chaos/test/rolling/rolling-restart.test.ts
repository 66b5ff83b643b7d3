import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { findRedis } from "@taskbridge/services/redis";

/** `npm run soak` raises these. */
const polls = process.env.TASKBRIDGE_ROLL_POLLS ?? "20";
const rounds = process.env.TASKBRIDGE_ROLL_ROUNDS ?? "1";

const engine = await findRedis();
const missing = engine.kind === "missing" ? engine.reason : "";
const isRequired = process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing";
const describeRolling = missing === "" || isRequired ? describe : describe.skip;

interface Rolled {
  readonly restarts: number;
  readonly answered: number;
  /** Failed attempts of SDK clients, which do not repeat them, by what they failed of. */
  readonly failed: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
  readonly done: number;
  readonly callsFailed: readonly string[];
  readonly drainFaults: readonly string[];
}

/** The compiled program: clients of SDKs do not work among Jest's own objects. */
const roll = async (...args: readonly string[]): Promise<Rolled> => {
  const program = fileURLToPath(new URL("../../dist/rolling/main.js", import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  await once(child, "close");
  const lines = output.trim().split("\n");
  process.stderr.write(`${lines.slice(0, -1).join("\n")}\n`);
  return JSON.parse(lines.at(-1) ?? "") as Rolled;
};

describeRolling(`a rolling restart of three replicas${missing === "" ? "" : ` (SKIPPED: ${missing})`}`, () => {
  it("leaves no poll wrong, none unanswered at a replica that was told to stop, and no call of our client failed", async () => {
    const rolled = await roll("--polls", polls, "--rounds", rounds);
    expect(rolled).toMatchObject({ wrong: [], callsFailed: [], drainFaults: [], restarts: 3 * Number(rounds) });
    expect(rolled.done).toBeGreaterThan(3);
    expect(rolled.answered).toBeGreaterThan(100);
    const failed = Object.values(rolled.failed).reduce((sum, times) => sum + times, 0);
    expect(failed).toBeLessThanOrEqual(rolled.answered / 100);
  }, 570_000);

  it("would be noticed to fail without a drain", async () => {
    const rolled = await roll("--polls", "50", "--rounds", "1", "--replicas", "2", "--drain", "0");
    expect(rolled.drainFaults.length + Object.keys(rolled.failed).length).toBeGreaterThan(0);
  }, 570_000);
});
