import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  StartSyncExecutionCommand,
  StopExecutionCommand,
} from "@aws-sdk/client-sfn";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { errorOf, type FacadeBench, localConfig, openFacade } from "./open-facade.ts";
import { otherRegionQuotas } from "./quotas.ts";
import { runsOn, state } from "./script.ts";

describe("trouble on the façade", () => {
  let bench: FacadeBench;
  let stateMachineArn: string;
  beforeEach(async () => {
    bench = await openFacade();
    stateMachineArn = bench.facade.machine("machine", runsOn);
  });
  afterEach(() => bench.close());

  const start = (name = "one") => bench.client.send(new StartExecutionCommand({ stateMachineArn, name }));
  const list = () => bench.client.send(new ListExecutionsCommand({ stateMachineArn }));

  it("throttles beyond the bucket, and fills it again by the second", async () => {
    const outcomes = await Promise.all(Array.from({ length: 203 }, () => errorOf(list())));
    expect(outcomes.filter(({ name }) => name === "ThrottlingException")).toHaveLength(3);
    expect(outcomes.find(({ name }) => name !== "none")).toMatchObject({ message: "Rate exceeded" });
    expect(bench.facade.counts.ListExecutions).toEqual({
      asked: 203,
      accepted: 200,
      throttled: 3,
      refused: 0,
      lost: 0,
    });
    bench.clock.advance(1_000);
    expect(bench.facade.tokensLeft("ListExecutions")).toBe(5);
  });

  it("has smaller buckets in other regions, or none", async () => {
    for (const [quotas, left] of [
      [otherRegionQuotas, 100],
      [{}, Number.POSITIVE_INFINITY],
    ] as const) {
      const other = await openFacade({ quotas });
      expect(other.facade.tokensLeft("ListExecutions")).toBe(left);
      await other.close();
    }
  });

  it("throttles as the real client recognises it, and is retried by one that may", async () => {
    bench.facade.setFaults({ throttles: (action) => bench.facade.counts[action]?.throttled === 0 });
    const patient = new SFNClient({ ...localConfig(bench.facade.endpoint), maxAttempts: 2 });
    const { $metadata } = await patient.send(new StartExecutionCommand({ stateMachineArn, name: "one" }));
    patient.destroy();
    expect($metadata).toMatchObject({ attempts: 2 });
  });

  it("carries out a start whose answer it loses", async () => {
    bench.facade.setFaults({ losesAnswer: (action) => action === "StartExecution" });
    expect(await errorOf(start())).not.toMatchObject({ name: "none" });
    expect(bench.facade.executions(stateMachineArn)).toMatchObject([{ name: "one", status: "RUNNING" }]);
    expect(bench.facade.counts.StartExecution).toMatchObject({ asked: 1, accepted: 1, lost: 1 });
    bench.facade.setFaults({});
    expect(await start()).toMatchObject({ executionArn: bench.facade.executions(stateMachineArn)[0]?.arn });
  });

  it("does not carry out a request that it loses", async () => {
    bench.facade.setFaults({ losesRequest: () => true });
    expect(await errorOf(start())).not.toMatchObject({ name: "none" });
    expect(bench.facade.executions(stateMachineArn)).toEqual([]);
  });

  it("denies by action, and says which", async () => {
    bench.facade.setFaults({ denies: ["StopExecution"] });
    const { executionArn } = await start();
    const { name, message } = await errorOf(bench.client.send(new StopExecutionCommand({ executionArn })));
    expect(name).toBe("AccessDeniedException");
    expect(message).toContain(`not authorized to perform: states:StopExecution on resource: ${executionArn}`);
    expect(bench.facade.execution(executionArn ?? "")).toMatchObject({ status: "RUNNING" });
  });

  it("refuses credentials that have expired, and those for another region", async () => {
    bench.facade.setFaults({ credentialsExpired: true });
    expect(await errorOf(list())).toMatchObject({ name: "ExpiredTokenException" });
    bench.facade.setFaults({});
    const elsewhere = new SFNClient(localConfig(bench.facade.endpoint, "us-east-1"));
    expect(await errorOf(elsewhere.send(new ListExecutionsCommand({ stateMachineArn })))).toMatchObject({
      name: "InvalidSignatureException",
    });
    elsewhere.destroy();
  });

  it.each([
    [500, "InternalFailure"],
    [503, "ServiceUnavailableException"],
  ] as const)("fails with its own %s", async (status, name) => {
    bench.facade.setFaults({ fails: () => status });
    expect(await errorOf(list())).toMatchObject({ name });
  });

  it("keeps requests back while it is frozen", async () => {
    bench.facade.setFaults({ isFrozen: true });
    const begun = start();
    const given = new AbortController();
    const late = bench.client.send(new DescribeExecutionCommand({ executionArn: "x" }), { abortSignal: given.signal });
    given.abort();
    await expect(late).rejects.toThrow("abort");
    expect(bench.facade.executions(stateMachineArn)).toEqual([]);
    bench.facade.setFaults({});
    await begun;
    expect(bench.facade.executions(stateMachineArn)).toHaveLength(1);
  });

  it("hangs up at a mistake in a script, and tells it at the end", async () => {
    const broken = bench.facade.machine("broken", () => {
      throw new Error("the script is broken");
    });
    const { executionArn } = await bench.client.send(new StartExecutionCommand({ stateMachineArn: broken }));
    expect(await errorOf(bench.client.send(new DescribeExecutionCommand({ executionArn })))).not.toMatchObject({
      name: "none",
    });
    await expect(bench.facade.close()).rejects.toThrow("the script is broken");
  });
});

describe("Express on the façade", () => {
  let bench: FacadeBench;
  let stateMachineArn: string;
  beforeEach(async () => {
    bench = await openFacade();
    stateMachineArn = bench.facade.machine(
      "quick",
      { steps: [state("Work", 2_000)], end: { succeed: 14 } },
      { type: "EXPRESS" },
    );
  });
  afterEach(() => bench.close());

  const begin = () => bench.client.send(new StartExecutionCommand({ stateMachineArn, name: "one" }));

  it("starts twice under one name, and tells nothing of either", async () => {
    const first = await begin();
    const second = await begin();
    expect(first.executionArn).toMatch(/:express:quick:one:/);
    expect(second.executionArn).not.toBe(first.executionArn);
    const { executionArn } = first;
    const invalid = {
      name: "InvalidArn",
      message: "Invalid Arn: 'Resource type not valid in this context: express'",
    };
    expect(await errorOf(bench.client.send(new DescribeExecutionCommand({ executionArn })))).toEqual(invalid);
    expect(await errorOf(bench.client.send(new StopExecutionCommand({ executionArn })))).toEqual(invalid);
    expect(await errorOf(bench.client.send(new ListExecutionsCommand({ stateMachineArn })))).toMatchObject({
      name: "StateMachineTypeNotSupported",
    });
  });

  const sync = () => bench.client.send(new StartSyncExecutionCommand({ stateMachineArn, name: "one", input: "{}" }));
  /** Resolves once the request has come in. */
  const untilBegun = async (): Promise<void> => {
    while (bench.facade.executions(stateMachineArn).length === 0) await new Promise(setImmediate);
  };

  it("answers a synchronous start once it has ended", async () => {
    const answer = sync();
    await untilBegun();
    bench.clock.advance(2_000);
    expect(await answer).toMatchObject({
      name: "one",
      status: "SUCCEEDED",
      output: "14",
      stopDate: new Date(bench.clock.now()),
    });
  });

  it("gives up after five minutes, and tells it with HTTP 200", async () => {
    stateMachineArn = bench.facade.machine("endless", runsOn, { type: "EXPRESS" });
    const answer = sync();
    await untilBegun();
    bench.clock.advance(300_000);
    expect(await answer).toMatchObject({ status: "TIMED_OUT", $metadata: { httpStatusCode: 200 } });
  });

  it("refuses a synchronous start of a Standard machine", async () => {
    stateMachineArn = bench.facade.machine("standard", runsOn);
    expect(await errorOf(sync())).toMatchObject({ name: "StateMachineTypeNotSupported" });
  });
});
