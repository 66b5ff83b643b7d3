import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe } from "@jest/globals";
import { findRedis } from "@taskbridge/services/redis";

const engine = await findRedis();
const missing = engine.kind === "missing" ? engine.reason : "";
const isRequired = process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing";
const describeOrSkip = missing === "" || isRequired ? describe : describe.skip;

/** Skipped, saying so in its name, where there is no Redis. */
export const describeRolling = (name: string, tests: () => void): void =>
  describeOrSkip(`${name}${missing === "" ? "" : ` (SKIPPED: ${missing})`}`, tests);

export interface Rolled {
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
export const roll = async (...args: readonly string[]): Promise<Rolled> => {
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
