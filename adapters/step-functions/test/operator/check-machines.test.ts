import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { BridgeError, type CheckFinding } from "@taskbridge/core/adapter";
import type { SfnClient } from "../../src/aws/client.ts";
import { sfnClient } from "../../src/aws/sfn-client.ts";
import type { StepFunctionsTarget } from "../../src/index.ts";
import { parseOptions } from "../../src/settings/parse-options.ts";
import { stepFunctionsOver } from "../../src/step-functions.ts";
import { callContext } from "../call-context.ts";
import type { Faults } from "../facade/faults.ts";
import { type FacadeBench, facadeBench } from "../facade-bench.ts";

let bench: FacadeBench;
beforeEach(async () => {
  bench = await facadeBench();
  bench.facade.machine("quick", { steps: [] }, { type: "EXPRESS" });
});
afterEach(() => bench.facade.close());

const check = async (...targets: readonly StepFunctionsTarget[]): Promise<readonly CheckFinding[]> =>
  (await bench.adapter.check?.(targets, callContext())) ?? [];

it("finds machines that can be used, and says what was not tried", async () => {
  const [finding] = await check(bench.target("succeeds"));
  expect(finding).toEqual({
    level: "ok",
    path: "targets[0].stateMachine",
    message: expect.stringMatching(/STANDARD, in eu-west-1; states:StartExecution .*not tried/),
  });
});

it.each([
  ["quick", /Express state machine.*type: express/, "misconfigured"],
  // It may be deployed a minute later.
  ["missing", /no state machine missing/, undefined],
  ["arn:aws:states:eu-west-1:123456789012:stateMachine:missing", /no such state machine/, undefined],
  ["arn:aws:states:us-east-1:123456789012:stateMachine:succeeds", /is in us-east-1/, "misconfigured"],
])("finds what is wrong with %s", async (stateMachine, message, code) => {
  expect(await check({ stateMachine })).toEqual([
    {
      level: "error",
      path: "targets[0].stateMachine",
      message: expect.stringMatching(message),
      ...(code === undefined ? {} : { code }),
    },
  ]);
});

it("leaves what depends on the input", async () => {
  expect(await check({ stateMachine: "{{input.machine}}" })).toEqual([expect.objectContaining({ level: "warning" })]);
});

const succeeds = { stateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:succeeds" };

it.each(["DescribeExecution", "ListExecutions"])("names the action that is denied: %s", async (action) => {
  bench.facade.setFaults({ denies: [action] });
  expect(await check(succeeds)).toEqual([
    expect.objectContaining({ level: "error", message: expect.stringContaining(`states:${action}`) }),
  ]);
});

it.each([
  ["StopExecution", "cancelled"],
  ["GetExecutionHistory", "questions and progress"],
  ["DescribeMapRun", "Map"],
  ["SendTaskSuccess", "answered"],
  ["SendTaskFailure", "declined"],
  ["SendTaskHeartbeat", "HeartbeatSeconds"],
])("warns of what is lost without an action that may be left out: %s", async (action, lost) => {
  bench.facade.setFaults({ denies: [action] });
  const [warning, ok, ...others] = await check(succeeds);
  expect(warning).toMatchObject({ level: "warning", message: expect.stringContaining(`states:${action}`) });
  expect(warning?.message).toContain(lost);
  expect([ok?.level, others]).toEqual(["ok", []]);
});

it.each<[Faults, RegExp]>([
  [{ credentialsExpired: true }, /have expired/],
  [{ throttles: () => true }, /limits the rate/],
])("tells why nothing can be asked: %j", async (faults, message) => {
  bench.facade.setFaults(faults);
  expect(await check(bench.target("succeeds"))).toEqual([
    expect.objectContaining({ level: "error", message: expect.stringMatching(message) }),
  ]);
});

it.each([
  [{ alias: "nope" }, "alias nope"],
  [{ version: "7" }, "version 7"],
])("finds what is not there of a machine that is: %j", async (part, named) => {
  expect(await check({ ...succeeds, ...part })).toEqual([
    expect.objectContaining({ level: "error", message: expect.stringContaining(`has no ${named}`) }),
  ]);
});

it.each([
  ["describe", "error"],
  ["stop", "warning"],
] as const)("tells what it has found, and that AWS has not answered, when it is given up: %s", async (call, level) => {
  const giveUp = new AbortController();
  const client = sfnClient(parseOptions({ region: bench.facade.region, endpoint: bench.facade.endpoint }));
  const left = new Set(["succeeds", "quick", call]);
  const settle = (what: string): void => {
    left.delete(what);
    if (left.size === 0) giveUp.abort();
  };
  const hang = (): Promise<never> =>
    new Promise((_resolve, reject) => {
      giveUp.signal.addEventListener("abort", () => reject(new BridgeError("unavailable", "no answer")));
      settle(call);
    });
  const hanging: SfnClient = {
    ...client,
    machine: async (arn, signal) => {
      const machine = await client.machine(arn, signal);
      settle(machine.name);
      return machine;
    },
    [call]: hang,
  };
  const adapter = stepFunctionsOver(parseOptions({}), hanging, undefined);
  const findings = await adapter.check?.([succeeds, { stateMachine: "quick" }], callContext({ signal: giveUp.signal }));
  expect(findings).toContainEqual({
    level,
    path: "targets[0].stateMachine",
    message: expect.stringMatching("no answer|given up"),
  });
  expect(findings).toContainEqual(
    expect.objectContaining({ level: "error", path: "targets[1].stateMachine", code: "misconfigured" }),
  );
  await adapter.close?.();
});

it("lists machines once, and asks once for what goes for all of them", async () => {
  const findings = await check(...["succeeds", "fails", "asks"].map((stateMachine) => ({ stateMachine })));
  expect(findings.map(({ level }) => level)).toEqual(["ok", "ok", "ok"]);
  const { ListStateMachines: lists, SendTaskSuccess: answers } = bench.facade.counts;
  expect([lists?.asked, answers?.asked]).toEqual([1, 1]);
});
