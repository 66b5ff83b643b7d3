import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  RedriveExecutionCommand,
  StartExecutionCommand,
  type StartExecutionInput,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { errorOf, type FacadeBench, openFacade } from "./open-facade.ts";
import { ask, runsOn, state } from "./script.ts";

const dayMs = 86_400_000;

describe("starting on the façade", () => {
  let bench: FacadeBench;
  let arn: string;
  beforeEach(async () => {
    bench = await openFacade();
    arn = bench.facade.machine("encode", { steps: [state("Encode", 1_000)], end: { succeed: { files: 14 } } });
  });
  afterEach(() => bench.close());

  const start = (more: Partial<StartExecutionInput> = {}) =>
    bench.client.send(new StartExecutionCommand({ stateMachineArn: arn, name: "one", input: '{"a":1}', ...more }));
  const describeExecution = (executionArn: string | undefined) =>
    bench.client.send(new DescribeExecutionCommand({ executionArn }));

  it("is the same start with the same name and input while it runs", async () => {
    const first = await start();
    bench.clock.advance(500);
    expect(await start()).toMatchObject({ executionArn: first.executionArn, startDate: first.startDate });
    expect(bench.facade.executions(arn)).toHaveLength(1);
  });

  it.each([
    ["with another input", 0, { input: '{"a": 1}' }],
    ["once it has ended", 2_000, {}],
  ])("refuses the same name %s", async (_, afterMs, more) => {
    const { executionArn } = await start();
    bench.clock.advance(afterMs);
    expect(await errorOf(start(more))).toEqual({
      name: "ExecutionAlreadyExists",
      message: `Execution Already Exists: '${executionArn}'`,
    });
  });

  it("frees a name 90 days after the end", async () => {
    const { executionArn } = await start();
    bench.clock.advance(1_000 + 90 * dayMs);
    expect(await errorOf(describeExecution(executionArn))).toMatchObject({ name: "ExecutionDoesNotExist" });
    expect(await start({ input: "{}" })).toMatchObject({ executionArn });
  });

  it.each([
    ["InvalidName", { name: "a b" }],
    ["InvalidName", { name: "a:b" }],
    ["InvalidName", { name: "a\u0007" }],
    ["ValidationException", { name: "x".repeat(81) }],
    ["InvalidExecutionInput", { input: "" }],
    ["InvalidExecutionInput", { input: "{x" }],
    ["ValidationException", { input: JSON.stringify("é".repeat(131_072)) }],
    ["StateMachineDoesNotExist", { stateMachineArn: "arn:aws:states:eu-west-1:123456789012:stateMachine:none" }],
    ["InvalidArn", { stateMachineArn: "encode" }],
    ["InvalidArn", { stateMachineArn: "arn:aws:states:us-east-1:123456789012:stateMachine:encode" }],
    ["InvalidArn", { stateMachineArn: "arn:aws:states:eu-west-1:123456789012:execution:encode:one" }],
  ])("refuses with %s what is %j", async (name, more) => {
    expect(await errorOf(start(more))).toMatchObject({ name });
    expect(bench.facade.executions(arn)).toEqual([]);
  });

  it("takes the longest name and the largest input that are allowed", async () => {
    const input = JSON.stringify("x".repeat(262_142));
    const { executionArn } = await start({ name: "ü".repeat(80), input });
    expect((await describeExecution(executionArn)).input).toBe(input);
  });

  it("starts versions and aliases under the machine's own name", async () => {
    const machine = bench.facade.machine("published", runsOn, { versions: [1, 2], aliases: { prod: 2 } });
    const { executionArn } = await start({ stateMachineArn: `${machine}:prod` });
    await start({ stateMachineArn: `${machine}:1`, name: "two" });
    expect(executionArn).toBe("arn:aws:states:eu-west-1:123456789012:execution:published:one");
    expect(await describeExecution(executionArn)).toMatchObject({
      stateMachineArn: machine,
      stateMachineAliasArn: `${machine}:prod`,
      stateMachineVersionArn: `${machine}:2`,
    });
    const { executions } = await bench.client.send(new ListExecutionsCommand({ stateMachineArn: `${machine}:1` }));
    expect(executions?.map(({ name }) => name)).toEqual(["two"]);
    for (const qualifier of ["3", "beta"])
      expect(await errorOf(start({ stateMachineArn: `${machine}:${qualifier}` }))).toMatchObject({
        name: "StateMachineDoesNotExist",
      });
  });

  it("refuses one too many", async () => {
    bench.facade.limitOpenExecutions(2);
    await start();
    await start({ name: "two" });
    expect(await errorOf(start({ name: "three" }))).toMatchObject({ name: "ExecutionLimitExceeded" });
    bench.clock.advance(1_000);
    expect(await errorOf(start({ name: "three" }))).toMatchObject({ name: "none" });
  });

  it("stops what waits for a token, and leaves alone what has ended", async () => {
    const machine = bench.facade.machine("asks", { steps: [ask("Approve")] });
    const { executionArn } = await start({ stateMachineArn: machine });
    const stop = (cause: string) =>
      bench.client.send(new StopExecutionCommand({ executionArn, error: "Cancelled", cause }));
    const { stopDate } = await stop("not needed");
    bench.clock.advance(5_000);
    expect(await stop("again")).toMatchObject({ stopDate });
    expect(await describeExecution(executionArn)).toMatchObject({
      status: "ABORTED",
      error: "Cancelled",
      cause: "not needed",
      stopDate,
      redriveStatus: "REDRIVABLE",
    });
    expect(await errorOf(stop("x".repeat(32_769)))).toMatchObject({ name: "ValidationException" });
  });

  it("runs a failed one again under the same ARN, for 14 days", async () => {
    const machine = bench.facade.machine("fails", ({ redriveCount }) => ({
      steps: [state("Work", 1_000)],
      end: redriveCount === 0 ? { fail: { error: "Oops", cause: "why" } } : { succeed: {} },
    }));
    const { executionArn } = await start({ stateMachineArn: machine });
    const redrive = () => bench.client.send(new RedriveExecutionCommand({ executionArn }));
    expect(await errorOf(redrive())).toMatchObject({ name: "ExecutionNotRedrivable" });
    bench.clock.advance(1_000);
    expect(await describeExecution(executionArn)).toMatchObject({ status: "FAILED", error: "Oops", cause: "why" });
    await redrive();
    expect(await describeExecution(executionArn)).toMatchObject({ status: "RUNNING", redriveCount: 1 });
    bench.clock.advance(1_000);
    expect(await describeExecution(executionArn)).toMatchObject({
      status: "SUCCEEDED",
      redriveCount: 1,
      redriveStatus: "NOT_REDRIVABLE",
    });
    const late = await start({ stateMachineArn: machine, name: "late" });
    bench.clock.advance(1_000 + 14 * dayMs);
    expect(await describeExecution(late.executionArn)).toMatchObject({
      redriveStatus: "NOT_REDRIVABLE",
      redriveStatusReason: "Execution redrivable period exceeded",
    });
  });

  it("loses all executions of a machine that is deleted", async () => {
    const { executionArn } = await start();
    bench.facade.remove(arn, "deleting");
    expect(await errorOf(start({ name: "two" }))).toMatchObject({ name: "StateMachineDeleting" });
    expect(await describeExecution(executionArn)).toMatchObject({ status: "RUNNING" });
    bench.facade.remove(arn, "gone");
    expect(await errorOf(describeExecution(executionArn))).toMatchObject({ name: "ExecutionDoesNotExist" });
    expect(await errorOf(start())).toMatchObject({ name: "StateMachineDoesNotExist" });
  });
});
