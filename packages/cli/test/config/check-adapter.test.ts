import { expect, test } from "@jest/globals";
import type { CheckFinding, WorkflowAdapter } from "@taskbridge/core/adapter";
import { checkAdapter } from "../../src/config/check-adapter.ts";
import type { Config } from "../../src/config/config.ts";
import type { Pipelines } from "../../src/config/load-pipelines.ts";

const findingsOf = (check: NonNullable<WorkflowAdapter["check"]>) => {
  const adapter: Partial<WorkflowAdapter> = { kind: "checking", parseTarget: (target) => target, check };
  const config = { tools: [{ adapter: "far", target: {} }] } as unknown as Config;
  return checkAdapter(config, { adapters: { far: adapter } } as unknown as Pipelines, "far", 10);
};
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

test("what an adapter has found when time is over counts", async () => {
  const found: CheckFinding = {
    level: "error",
    code: "misconfigured",
    path: "targets[0].machine",
    message: "is Express",
  };
  const findings = await findingsOf((_targets, { signal }) => untilAborted(signal).then(() => [found]));
  const { path: _path, ...reported } = found;
  expect(findings).toEqual([{ ...reported, location: ["tools", 0, "target", "machine"] }]);
});

test.each<[string, NonNullable<WorkflowAdapter["check"]>]>([
  ["gives up", (_targets, { signal }) => untilAborted(signal).then(() => Promise.reject(new Error("aborted")))],
  ["heeds no signal", () => new Promise(() => {})],
])("an adapter that %s is told as a whole", async (_name, check) => {
  expect(await findingsOf(check)).toEqual([
    { level: "error", location: ["adapters", "far"], message: "no answer within 10 ms" },
  ]);
});
