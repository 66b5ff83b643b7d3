import {
  DescribeExecutionCommand,
  DescribeMapRunCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  type GetExecutionHistoryInput,
  type HistoryEvent,
  ListExecutionsCommand,
  type ListExecutionsInput,
  ListStateMachinesCommand,
  ListTagsForResourceCommand,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { errorOf, type FacadeBench, openFacade } from "./open-facade.ts";
import { ask, map, mapRun, parallel, runsOn, type Script, state } from "./script.ts";

describe("reading from the façade", () => {
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
  const historyOf = (executionArn: string, more: Partial<GetExecutionHistoryInput> = {}) =>
    bench.client.send(new GetExecutionHistoryCommand({ executionArn, ...more }));
  const list = (more: Partial<ListExecutionsInput>) => bench.client.send(new ListExecutionsCommand(more));
  const shapes = (events: readonly HistoryEvent[] | undefined) =>
    events?.map(({ id, previousEventId, type }) => `${previousEventId}>${id} ${type}`);

  it("describes what is over, at the time at which it was", async () => {
    const executionArn = await startOne({ steps: [state("Work", 1_500)], end: { succeed: { files: 14 } } });
    const startedAt = bench.clock.now();
    bench.clock.advance(9_000);
    expect(await bench.client.send(new DescribeExecutionCommand({ executionArn }))).toMatchObject({
      name: "one",
      status: "SUCCEEDED",
      output: '{"files":14}',
      startDate: new Date(startedAt),
      stopDate: new Date(startedAt + 1_500),
      redriveCount: 0,
    });
  });

  it("says neither error nor cause of a timeout of the whole, and States.Timeout of a state's", async () => {
    const whole = await startOne({ ...runsOn, timeoutMs: 1_000 });
    bench.clock.advance(1_000);
    const { status, error, cause, stopDate } = await bench.client.send(
      new DescribeExecutionCommand({ executionArn: whole }),
    );
    expect({ status, error, cause, stopDate: stopDate?.getTime() }).toEqual({
      status: "TIMED_OUT",
      error: undefined,
      cause: undefined,
      stopDate: bench.clock.now(),
    });
    const one = await startOne({ steps: [ask("Approve", {}, { timeoutMs: 1_000 })] });
    bench.clock.advance(1_000);
    expect(await bench.client.send(new DescribeExecutionCommand({ executionArn: one }))).toMatchObject({
      status: "FAILED",
      error: "States.Timeout",
    });
  });

  it("is behind by its lag", async () => {
    const executionArn = await startOne({ steps: [state("Work", 1_000)] });
    const stateMachineArn = bench.facade.machine("other", runsOn);
    bench.facade.setLag({ describeMs: 5_000, listMs: 5_000 });
    const inspect = () => bench.client.send(new DescribeExecutionCommand({ executionArn }));
    bench.facade.populate(stateMachineArn, 1);
    expect(await errorOf(inspect())).toMatchObject({ name: "ExecutionDoesNotExist" });
    expect((await list({ stateMachineArn })).executions).toEqual([]);
    bench.clock.advance(5_000);
    expect(await inspect()).toMatchObject({ status: "RUNNING" });
    expect((await list({ stateMachineArn })).executions).toHaveLength(1);
    bench.clock.advance(1_000);
    expect(await inspect()).toMatchObject({ status: "SUCCEEDED" });
  });

  it("tells a state that no script comes to", async () => {
    const executionArn = await startOne(runsOn);
    bench.facade.override(executionArn, { status: "PENDING_REDRIVE" });
    const { status } = await bench.client.send(new DescribeExecutionCommand({ executionArn }));
    expect(status).toBe("PENDING_REDRIVE");
  });

  it("lists in pages, the newest first, whatever is started meanwhile", async () => {
    const stateMachineArn = bench.facade.machine("many", runsOn);
    bench.facade.populate(stateMachineArn, 5, "old");
    const names: (string | undefined)[] = [];
    let nextToken: string | undefined;
    do {
      const page = await list({ stateMachineArn, maxResults: 2, nextToken });
      names.push(...(page.executions ?? []).map(({ name }) => name));
      nextToken = page.nextToken;
      bench.facade.populate(stateMachineArn, 1, `new-${names.length}`);
    } while (nextToken !== undefined);
    expect(names).toEqual(["old-4", "old-3", "old-2", "old-1", "old-0"]);
  });

  it("lists by state", async () => {
    const stateMachineArn = bench.facade.machine("mixed", ({ name }) => ({
      steps: [state("Work", name.endsWith("1") ? 1_000 : 60_000)],
    }));
    bench.facade.populate(stateMachineArn, 3);
    bench.clock.advance(1_000);
    const namesOf = async (statusFilter: "RUNNING" | "SUCCEEDED" | "FAILED") =>
      (await list({ stateMachineArn, statusFilter })).executions?.map(({ name }) => name);
    expect(await namesOf("RUNNING")).toEqual(["foreign-2", "foreign-0"]);
    expect(await namesOf("SUCCEEDED")).toEqual(["foreign-1"]);
    expect(await namesOf("FAILED")).toEqual([]);
  });

  it.each([
    ["ValidationException", { maxResults: 1_001 }],
    ["InvalidToken", { nextToken: "nonsense" }],
    ["ValidationException", { stateMachineArn: undefined }],
  ])("refuses with %s a list of %j", async (name, more) => {
    const stateMachineArn = bench.facade.machine("machine", runsOn);
    expect(await errorOf(list({ stateMachineArn, ...more }))).toMatchObject({ name });
  });

  it("takes a page token for 24 hours and for the same list only", async () => {
    const stateMachineArn = bench.facade.machine("many", runsOn);
    bench.facade.populate(stateMachineArn, 3);
    const { nextToken } = await list({ stateMachineArn, maxResults: 1 });
    const again = (more: object) => errorOf(list({ stateMachineArn, maxResults: 1, nextToken, ...more }));
    expect(await again({})).toMatchObject({ name: "none" });
    expect(await again({ statusFilter: "RUNNING" })).toMatchObject({ name: "InvalidToken" });
    bench.clock.advance(86_400_000);
    expect(await again({})).toMatchObject({ name: "InvalidToken" });
  });

  it("pages through 10,000 executions of somebody else in a moment", async () => {
    const stateMachineArn = bench.facade.machine("crowded", runsOn);
    bench.facade.populate(stateMachineArn, 10_000);
    const before = performance.now();
    let seen = 0;
    let nextToken: string | undefined;
    do {
      const page = await list({ stateMachineArn, statusFilter: "RUNNING", maxResults: 1_000, nextToken });
      seen += page.executions?.length ?? 0;
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    expect(seen).toBe(10_000);
    console.log(`10,000 executions listed in ${Math.round(performance.now() - before)} ms`);
  });

  it("tells branches in a history that is not a line", async () => {
    const branch = (name: string) => [state(name, 1_000, { type: "Pass" })];
    const executionArn = await startOne({ steps: [parallel("Both", branch("Left"), branch("Right"))] });
    bench.clock.advance(1_000);
    expect(shapes((await historyOf(executionArn)).events)).toEqual([
      "0>1 ExecutionStarted",
      "0>2 ParallelStateEntered",
      "2>3 ParallelStateStarted",
      "3>4 PassStateEntered",
      "3>5 PassStateEntered",
      "4>6 PassStateExited",
      "5>7 PassStateExited",
      "7>8 ParallelStateSucceeded",
      "8>9 ParallelStateExited",
      "9>10 ExecutionSucceeded",
    ]);
  });

  it("tells an end from outside as one that follows nothing", async () => {
    const executionArn = await startOne(runsOn);
    bench.facade.end(executionArn, { status: "ABORTED", cause: "why" });
    const { events } = await historyOf(executionArn);
    expect(shapes(events)).toEqual(["0>1 ExecutionStarted", "0>2 TaskStateEntered", "0>3 ExecutionAborted"]);
    expect(events?.at(-1)?.executionAbortedEventDetails).toEqual({ cause: "why" });
  });

  it("tells each item of a Map", async () => {
    const executionArn = await startOne({ steps: [map("Each", 2, () => [state("Item", 0, { type: "Pass" })])] });
    const { events = [] } = await historyOf(executionArn);
    expect(events.find(({ type }) => type === "MapStateStarted")?.mapStateStartedEventDetails).toEqual({ length: 2 });
    const succeeded = events.filter(({ type }) => type === "MapIterationSucceeded");
    expect(succeeded.map((event) => event.mapIterationSucceededEventDetails)).toEqual([
      { name: "Each", index: 0 },
      { name: "Each", index: 1 },
    ]);
    expect(events.at(-1)?.type).toBe("ExecutionSucceeded");
  });

  it("aborts what runs beside a branch that fails", async () => {
    const executionArn = await startOne({
      steps: [parallel("Both", [ask("Slow")], [ask("Fast", {}, { timeoutMs: 1_000 })])],
    });
    bench.clock.advance(1_000);
    const { events } = await historyOf(executionArn);
    expect(
      shapes(events)
        ?.slice(-4)
        .map((line) => line.split(" ")[1]),
    ).toEqual(["TaskTimedOut", "TaskStateAborted", "ParallelStateFailed", "ExecutionFailed"]);
  });

  it("tells a history in pages, from either end", async () => {
    const executionArn = await startOne({ steps: [state("A", 0), state("B", 0)] });
    const idsFrom = async (reverseOrder: boolean): Promise<(number | undefined)[]> => {
      const ids: (number | undefined)[] = [];
      let nextToken: string | undefined;
      do {
        const page = await historyOf(executionArn, { reverseOrder, maxResults: 2, nextToken });
        ids.push(...(page.events ?? []).map(({ id }) => id));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return ids;
    };
    expect(await idsFrom(false)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await idsFrom(true)).toEqual([6, 5, 4, 3, 2, 1]);
  });

  it("leaves the data out of a history when asked to", async () => {
    const executionArn = await startOne({ steps: [ask("Approve")] });
    const { events } = await historyOf(executionArn, { includeExecutionData: false });
    expect(JSON.stringify(events)).not.toContain("token");
    expect(JSON.stringify((await historyOf(executionArn)).events)).toContain("token");
  });

  it("counts the items of a distributed Map", async () => {
    const executionArn = await startOne({ steps: [mapRun("Files", 4, 1_000)] });
    bench.clock.advance(2_500);
    const { events = [] } = await historyOf(executionArn);
    const { mapRunArn } = events.find(({ type }) => type === "MapRunStarted")?.mapRunStartedEventDetails ?? {};
    const inspect = () => bench.client.send(new DescribeMapRunCommand({ mapRunArn }));
    expect(await inspect()).toMatchObject({
      executionArn,
      status: "RUNNING",
      itemCounts: { total: 4, succeeded: 2, running: 1, pending: 1 },
    });
    bench.clock.advance(2_000);
    expect(await inspect()).toMatchObject({
      status: "SUCCEEDED",
      itemCounts: { succeeded: 4, running: 0, pending: 0 },
    });
    expect(await errorOf(bench.client.send(new DescribeMapRunCommand({ mapRunArn: `${mapRunArn}x` })))).toMatchObject({
      name: "ResourceNotFound",
    });
  });

  it("lists machines in pages, and describes them with their tags", async () => {
    const arns = ["a", "b", "c"].map((name) =>
      bench.facade.machine(name, runsOn, { description: `Does ${name}.`, tags: { "taskbridge:title": name } }),
    );
    const first = await bench.client.send(new ListStateMachinesCommand({ maxResults: 2 }));
    const second = await bench.client.send(new ListStateMachinesCommand({ maxResults: 2, nextToken: first.nextToken }));
    const all = [...(first.stateMachines ?? []), ...(second.stateMachines ?? [])];
    expect(all.map(({ stateMachineArn }) => stateMachineArn)).toEqual(arns);
    expect(second.nextToken).toBeUndefined();
    expect(await bench.client.send(new DescribeStateMachineCommand({ stateMachineArn: arns[1] }))).toMatchObject({
      name: "b",
      type: "STANDARD",
      status: "ACTIVE",
      description: "Does b.",
    });
    const { tags } = await bench.client.send(new ListTagsForResourceCommand({ resourceArn: arns[2] }));
    expect(tags).toEqual([{ key: "taskbridge:title", value: "c" }]);
    expect(
      await errorOf(bench.client.send(new ListTagsForResourceCommand({ resourceArn: `${arns[2]}x` }))),
    ).toMatchObject({ name: "ResourceNotFound" });
  });
});
