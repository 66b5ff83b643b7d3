import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { errorOf, type FacadeBench, openFacade } from "./open-facade.ts";
import { ask, map, type Script, state } from "./script.ts";

describe("answering on the façade", () => {
  let bench: FacadeBench;
  beforeEach(async () => {
    bench = await openFacade();
  });
  afterEach(() => bench.close());

  const startOne = async (script: Script): Promise<string> => {
    const stateMachineArn = bench.facade.machine("machine", script);
    const { executionArn = "" } = await bench.client.send(new StartExecutionCommand({ stateMachineArn, name: "one" }));
    return executionArn;
  };
  const eventsOf = async (executionArn: string) =>
    (await bench.client.send(new GetExecutionHistoryCommand({ executionArn }))).events ?? [];
  /** As an outsider learns them. */
  const tokensOf = async (executionArn: string): Promise<string[]> =>
    (await eventsOf(executionArn))
      .flatMap(({ taskScheduledEventDetails: details }) =>
        details?.parameters === undefined ? [] : [details.parameters],
      )
      .map((parameters) => JSON.parse(parameters).MessageBody.token);
  const succeed = (taskToken: string, output = '{"ok":true}') =>
    bench.client.send(new SendTaskSuccessCommand({ taskToken, output }));
  const stateOf = (executionArn: string) => bench.client.send(new DescribeExecutionCommand({ executionArn }));

  it("shows the question as the history of the service does", async () => {
    const question = { mcp: { message: "Go on?" } };
    const executionArn = await startOne({
      steps: [ask("Approve", question, { timeoutMs: 60_000, heartbeatMs: 30_000 })],
    });
    const [token] = await tokensOf(executionArn);
    const [, entered, scheduled, started, submitted] = await eventsOf(executionArn);
    expect(entered).toMatchObject({ type: "TaskStateEntered", stateEnteredEventDetails: { name: "Approve" } });
    expect(scheduled).toMatchObject({
      type: "TaskScheduled",
      previousEventId: entered?.id,
      taskScheduledEventDetails: {
        resourceType: "sqs",
        resource: "sendMessage.waitForTaskToken",
        region: "eu-west-1",
        timeoutInSeconds: 60,
        heartbeatInSeconds: 30,
      },
    });
    expect(JSON.parse(scheduled?.taskScheduledEventDetails?.parameters ?? "")).toMatchObject({
      MessageBody: { token, execution: executionArn, ...question },
    });
    expect([started?.type, submitted?.type]).toEqual(["TaskStarted", "TaskSubmitted"]);
  });

  it("goes on with the answer, once", async () => {
    const executionArn = await startOne({
      steps: [ask("Approve"), state("Delete", 1_000)],
      end: { succeed: ({ Approve = null }) => ({ answer: Approve }) },
    });
    const [token = ""] = await tokensOf(executionArn);
    bench.clock.advance(3_600_000);
    await succeed(token);
    expect(await errorOf(succeed(token))).toEqual({
      name: "TaskTimedOut",
      message: "Task Timed Out: 'Provided task does not exist anymore'",
    });
    expect(await stateOf(executionArn)).toMatchObject({ status: "RUNNING" });
    bench.clock.advance(1_000);
    expect(await stateOf(executionArn)).toMatchObject({ status: "SUCCEEDED", output: '{"answer":{"ok":true}}' });
  });

  it.each([
    [false, { status: "FAILED", error: "Declined", cause: "no" }],
    [true, { status: "SUCCEEDED", output: '{"Error":"Declined","Cause":"no"}' }],
  ])("fails with a refusal, unless it is caught (%s)", async (isCaught, outcome) => {
    const executionArn = await startOne({
      steps: [ask("Approve", {}, { isCaught })],
      end: { succeed: ({ Approve = null }) => Approve },
    });
    const [taskToken] = await tokensOf(executionArn);
    await bench.client.send(new SendTaskFailureCommand({ taskToken, error: "Declined", cause: "no" }));
    expect(await stateOf(executionArn)).toMatchObject(outcome);
    expect((await eventsOf(executionArn)).map(({ type }) => type)).toContain("TaskFailed");
  });

  it("gives up without heartbeats, and waits with them", async () => {
    const executionArn = await startOne({ steps: [ask("Approve", {}, { heartbeatMs: 10_000 })] });
    const [taskToken = ""] = await tokensOf(executionArn);
    const beat = () => bench.client.send(new SendTaskHeartbeatCommand({ taskToken }));
    for (let count = 0; count < 3; count += 1) {
      bench.clock.advance(9_000);
      await beat();
    }
    expect(await stateOf(executionArn)).toMatchObject({ status: "RUNNING" });
    bench.clock.advance(10_000);
    expect(await errorOf(beat())).toMatchObject({ name: "TaskTimedOut" });
    expect(await errorOf(succeed(taskToken))).toMatchObject({ name: "TaskTimedOut" });
    expect(await stateOf(executionArn)).toMatchObject({ status: "FAILED", error: "States.Timeout" });
  });

  it("keeps several questions of a Map apart", async () => {
    const executionArn = await startOne({ steps: [map("Each", 3, (index) => [ask(`Approve ${index}`)])] });
    const tokens = await tokensOf(executionArn);
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens.toReversed()) {
      expect(await stateOf(executionArn)).toMatchObject({ status: "RUNNING" });
      await succeed(token);
    }
    expect(await stateOf(executionArn)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("refuses what is no token and no JSON, and leaves the question open", async () => {
    const executionArn = await startOne({ steps: [ask("Approve")] });
    const [token = ""] = await tokensOf(executionArn);
    expect(await errorOf(succeed("nonsense"))).toEqual({
      name: "InvalidToken",
      message: "Invalid Token: 'Invalid token'",
    });
    expect(await errorOf(succeed(token, "{x"))).toMatchObject({ name: "InvalidOutput" });
    expect(await errorOf(succeed(token, JSON.stringify("x".repeat(262_143))))).toMatchObject({
      name: "ValidationException",
    });
    expect(await errorOf(succeed(token))).toMatchObject({ name: "none" });
    expect(await stateOf(executionArn)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("knows no task of a machine that is gone", async () => {
    const executionArn = await startOne({ steps: [ask("Approve")] });
    const [token = ""] = await tokensOf(executionArn);
    bench.facade.end(executionArn, { status: "ABORTED" });
    expect(await errorOf(succeed(token))).toMatchObject({ name: "TaskTimedOut" });
    bench.facade.remove("arn:aws:states:eu-west-1:123456789012:stateMachine:machine", "gone");
    expect(await errorOf(succeed(token))).toMatchObject({ name: "TaskDoesNotExist" });
  });
});
