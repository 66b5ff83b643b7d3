import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Owner } from "../owner.ts";

export const queueName = "chaos";
export const queuePrefix = "chaos";

export interface ConfigOptions {
  readonly folder: string;
  /** Of the replica, which has a file of its own: it reaches store and queue by links of its own. */
  readonly name: string;
  readonly store: string;
  readonly queueUrl: string;
  readonly tokensFile: string;
  /** How long it goes on serving when it is told to stop (milliseconds). */
  readonly drainMs: number;
  /** Of every tool (milliseconds). */
  readonly pollIntervalMs: number;
}

const input = {
  type: "object",
  properties: { call: { type: "string" }, ms: { type: "integer" } },
  required: ["call", "ms"],
};

const toTool = (name: string, pollIntervalMs: number): object => ({
  name,
  description: `The pipeline ${name}.`,
  adapter: "queues",
  target: { queue: queueName, job: name },
  input,
  task: { pollIntervalMs },
});

/** Writes the configuration of a replica, and tells where it is. */
export const writeConfig = async ({ folder, name, ...config }: ConfigOptions): Promise<string> => {
  const path = join(folder, `${name}.yaml`);
  const { store, queueUrl, tokensFile, drainMs, pollIntervalMs } = config;
  const text = stringify({
    server: {
      name: "chaos",
      wires: ["2026-07-28", "2025-11-25", "sep-1686", "none"],
      companions: "always",
      waitMs: 1_500,
      drainMs,
      auth: { tokens: tokensFile },
    },
    store,
    adapters: { queues: { use: "bullmq", connection: queueUrl, prefix: queuePrefix } },
    tools: ["quick", "slow", "ask", "fail"].map((tool) => toTool(tool, pollIntervalMs)),
    limits: { maxConcurrentTasksPerOwner: 1_000, maxWaitsPerOwner: 1_000 },
  });
  await writeFile(path, text);
  return path;
};

/** Writes who may call, and tells where that is. */
export const writeTokens = async (folder: string, owners: readonly Owner[]): Promise<string> => {
  const path = join(folder, "tokens.json");
  await writeFile(path, JSON.stringify(owners.map(({ name, token }) => ({ token, subject: name }))), { mode: 0o600 });
  return path;
};
