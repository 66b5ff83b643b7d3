import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import {
  type ExecutionRef,
  type InspectItem,
  type InspectOutcome,
  type JsonObject,
  withSignal,
} from "@taskbridge/core/adapter";
import type { SfnClient } from "../../src/aws/client.ts";
import { type Quotas, quotasOf } from "../../src/aws/quotas.ts";
import { sfnClient } from "../../src/aws/sfn-client.ts";
import { tokenBucket } from "../../src/aws/token-bucket.ts";
import { type InspectTools, inspectExecutions } from "../../src/inspection/inspect-executions.ts";
import { sweeps } from "../../src/inspection/sweeps.ts";
import { toRef } from "../../src/mapping/execution-arn.ts";
import { detailReader } from "../../src/questions/detail-reader.ts";
import { parseOptions } from "../../src/settings/parse-options.ts";
import { callContext, type LoggedContext, newKey } from "../call-context.ts";
import { type ManualClock, manualClock } from "../facade/clock.ts";
import { ask, mapRun, parallel, runsOn } from "../facade/script.ts";
import { type FacadeBench, facadeBench } from "../facade-bench.ts";

/** A tenth of what AWS publishes, so that a tenth of the calls comes to the end of it. */
const tenth = {
  DescribeExecution: { bucket: 30, perSecond: 1.5 },
  ListExecutions: { bucket: 20, perSecond: 0.5 },
  GetExecutionHistory: { bucket: 40, perSecond: 2 },
};
/** Of that. Nothing comes again while the clock stands still. */
const rates = () => quotasOf(bench.facade.region, 0.08, clock.now);

let clock: ManualClock;
let bench: FacadeBench;
let machine: string;
let client: SfnClient;
let tools: InspectTools;
beforeEach(async () => {
  clock = manualClock(Date.now());
  bench = await facadeBench({ clock, quotas: tenth });
  machine = bench.facade.machine("orders", runsOn);
  client = sfnClient(parseOptions({ region: bench.facade.region, endpoint: bench.facade.endpoint }));
  tools = toolsOver(rates());
});
afterEach(async () => {
  client.close();
  await bench.adapter.close?.();
  await bench.facade.close();
});

const toolsOver = (quotas: Quotas, given: Partial<SfnClient> = {}): InspectTools => {
  const calls = { ...client, ...given };
  const of = () => quotas;
  const never = new AbortController().signal;
  const details = detailReader(calls, of);
  return { client: calls, quotas: of, details, detailsMs: 8_000, sweeps: sweeps(calls, of, never, clock.now) };
};

const asked = (action: string): number => bench.facade.counts[action]?.asked ?? 0;

const toItem = (ref: ExecutionRef, want: InspectItem["want"] = "status"): InspectItem => ({
  ref,
  want,
  previous: { status: "running", startedAt: bench.facade.execution(ref).startedAt },
});

const contextNow = (): LoggedContext => callContext({ now: clock.now });

const inspectBatch = (items: readonly InspectItem[], context = contextNow()): Promise<readonly InspectOutcome[]> =>
  inspectExecutions(tools, items, context);

const statusOf = (outcome: InspectOutcome | undefined): string =>
  outcome === undefined ? "none" : "snapshot" in outcome ? outcome.snapshot.status : (Object.keys(outcome)[0] ?? "");

const populate = (count: number, prefix: string): readonly ExecutionRef[] =>
  bench.facade.populate(machine, count, prefix).map(toRef);

/** Ends them, so long after their start that any list would show them if they ran. */
const endAll = (refs: readonly ExecutionRef[], ending: Parameters<FacadeBench["facade"]["end"]>[1]): void => {
  clock.advance(5_000);
  for (const ref of refs) bench.facade.end(ref, ending);
};

describe("many executions", () => {
  it("cost a page for a thousand, and a description for each that has ended", async () => {
    const refs = populate(900, "ours");
    endAll(refs.slice(0, 20), { status: "SUCCEEDED", output: "1" });
    const outcomes = await inspectBatch(refs.map((ref) => toItem(ref)));
    expect(outcomes.map(statusOf).filter((status) => status === "succeeded")).toHaveLength(20);
    expect(outcomes.map(statusOf).filter((status) => status === "running")).toHaveLength(880);
    expect([asked("ListExecutions"), asked("DescribeExecution"), asked("GetExecutionHistory")]).toEqual([1, 20, 0]);
  });

  it("are listed only as far back as the oldest of ours", async () => {
    populate(1_500, "older");
    const refs = populate(100, "ours");
    populate(500, "newer");
    await inspectBatch(refs.map((ref) => toItem(ref)));
    expect(asked("ListExecutions")).toBe(1);
  });

  it("share the pages of those that are looked at meanwhile", async () => {
    const refs = populate(1_500, "ours");
    const items = refs.map((ref) => toItem(ref));
    const inspections = [0, 1, 2, 3, 4].map((part) => inspectBatch(items.slice(part * 300, part * 300 + 300)));
    const outcomes = (await Promise.all(inspections)).flat();
    expect(outcomes.every((outcome) => statusOf(outcome) === "running")).toBe(true);
    // Two for all that asked before the list began, two at most for those that came after.
    expect(asked("ListExecutions")).toBeLessThanOrEqual(4);
  });

  it("share a list with those that are looked at soon after, however many pages it has", async () => {
    const ours = populate(1_500, "ours");
    populate(2_500, "foreign");
    const items = ours.map((ref) => toItem(ref));
    for (const part of [0, 500, 1_000]) await inspectBatch(items.slice(part, part + 500));
    expect(asked("ListExecutions")).toBe(4);
    expect(asked("DescribeExecution")).toBe(0);
    // Who is looked at again wants to know more than the first look has seen.
    const [ended] = ours;
    bench.facade.end(ended as ExecutionRef, { status: "ABORTED" });
    const [outcome] = await inspectBatch(items.slice(0, 500));
    expect(statusOf(outcome)).toBe("cancelled");
    expect(asked("ListExecutions")).toBeGreaterThan(4);
  });

  it("that were started after a list began are not described one by one for it", async () => {
    const older = populate(50, "older").map((ref) => toItem(ref));
    await inspectBatch(older.slice(0, 10));
    const younger = populate(50, "younger").map((ref) => toItem(ref));
    expect((await inspectBatch(younger)).map(statusOf)).toEqual(younger.map(() => "running"));
    expect([asked("ListExecutions"), asked("DescribeExecution")]).toEqual([2, 0]);
  });

  it("are told by their last event when more have ended than may be described at once", async () => {
    const refs = populate(40, "ours");
    endAll(refs, { status: "FAILED", error: "NoStock", cause: "none left" });
    const outcomes = await inspectBatch(refs.map((ref) => toItem(ref)));
    expect(outcomes.map(statusOf)).toEqual(refs.map(() => "failed"));
    expect(outcomes.every((outcome) => "snapshot" in outcome && outcome.snapshot.failure?.code === "NoStock")).toBe(
      true,
    );
    expect([asked("DescribeExecution"), asked("GetExecutionHistory")]).toEqual([24, 16]);
    for (const action of ["DescribeExecution", "GetExecutionHistory"])
      expect(bench.facade.counts[action]?.throttled).toBe(0);
  });

  it("are looked at soon where histories are denied, which is asked once", async () => {
    const refs = populate(40, "ours");
    endAll(refs, { status: "ABORTED" });
    bench.facade.setFaults({ denies: ["GetExecutionHistory"] });
    // The next one would come too late.
    tools = toolsOver({ ...rates(), describe: tokenBucket(24, 0.1, clock.now) });
    const outcomes = await inspectBatch(refs.map((ref) => toItem(ref)));
    const left = refs.filter((_ref, index) => statusOf(outcomes[index]) === "unavailable");
    expect(outcomes.map(statusOf).filter((status) => status === "cancelled")).toHaveLength(24);
    expect(left).toHaveLength(16);
    const before = asked("GetExecutionHistory");
    const context = contextNow();
    const items = left.map((ref) => toItem(ref));
    await inspectBatch(items, context);
    clock.advance(240_000);
    expect((await inspectBatch(items, context)).map(statusOf)).toEqual(left.map(() => "cancelled"));
    expect([asked("GetExecutionHistory"), context.logged]).toEqual([before, []]);
  });

  it("wait for a description that may be had soon", async () => {
    const refs = populate(20, "ours");
    endAll(refs, { status: "ABORTED" });
    bench.facade.setFaults({ denies: ["GetExecutionHistory"] });
    tools = toolsOver({ ...rates(), describe: tokenBucket(1, 1_000) });
    expect((await inspectBatch(refs.map((ref) => toItem(ref)))).map(statusOf)).toEqual(refs.map(() => "cancelled"));
  });

  it("are all described for one token each, as far as those reach", async () => {
    const refs = populate(24, "ours");
    endAll(refs, { status: "ABORTED" });
    const outcomes = await inspectBatch(refs.map((ref) => toItem(ref)));
    expect(outcomes.map(statusOf)).toEqual(refs.map(() => "cancelled"));
    expect([asked("DescribeExecution"), asked("GetExecutionHistory")]).toEqual([24, 0]);
  });

  it("are described when the list does not show them, and those that may be too new for it if much is left", async () => {
    bench.facade.setLag({ listMs: 60_000 });
    const older = populate(10, "older");
    clock.advance(5_000);
    const items = [...populate(20, "younger"), ...older].map((ref) => toItem(ref));
    const statuses = (await inspectBatch(items)).map(statusOf);
    expect(statuses.slice(20)).toEqual(older.map(() => "running"));
    // Half of the rate is kept for what has ended.
    expect(statuses.filter((status) => status === "unavailable")).toHaveLength(8);
    expect(asked("DescribeExecution")).toBe(22);
  });

  it("are told by no page that was read long before those that were added to its list", async () => {
    const oldest = populate(10, "oldest");
    clock.advance(5_000);
    populate(1_000, "foreign");
    const young = populate(20, "young").map((ref) => toItem(ref));
    await inspectBatch(young.slice(0, 10));
    clock.advance(1_500);
    await inspectBatch(oldest.map((ref) => toItem(ref)));
    clock.advance(1_500);
    for (const { ref } of young.slice(10)) bench.facade.end(ref, { status: "ABORTED" });
    expect((await inspectBatch(young.slice(10))).map(statusOf)).toEqual(young.slice(10).map(() => "cancelled"));
  });

  it("are described at once where few have ended and a list would wait for its rate", async () => {
    const ours = populate(3, "ours");
    endAll(ours, { status: "ABORTED" });
    const { list, describe: rate, ...others } = rates();
    while (list.tryTake());
    while (rate.left() > 12) rate.tryTake();
    tools = { ...tools, quotas: () => ({ ...others, list, describe: rate }) };
    expect((await inspectBatch(ours.map((ref) => toItem(ref)))).map(statusOf)).toEqual(ours.map(() => "cancelled"));
    expect(asked("ListExecutions")).toBe(0);
  });

  it("are asked for one by one when their machine is deleted, and then not found", async () => {
    const refs = populate(5, "ours");
    const items = refs.map((ref) => toItem(ref));
    bench.facade.remove(machine, "gone");
    expect((await inspectBatch(items)).map(statusOf)).toEqual(refs.map(() => "notFound"));
  });
});

describe("few executions", () => {
  it("are described without a list", async () => {
    const refs = populate(3, "ours");
    await inspectBatch(refs.map((ref) => toItem(ref)));
    expect([asked("ListExecutions"), asked("DescribeExecution")]).toEqual([0, 3]);
  });

  it("are not missing for good when AWS does not show them (yet)", async () => {
    const [ref] = populate(1, "ours");
    const items = [toItem(ref as ExecutionRef)];
    bench.facade.setLag({ describeMs: 60_000 });
    expect(await inspectBatch(items)).toEqual([{ notFound: { proven: false, reason: expect.any(String) } }]);
  });

  it("that run again after they had ended are told as they are, and logged", async () => {
    const [ref] = populate(1, "ours");
    bench.facade.override(ref as ExecutionRef, { status: "RUNNING", redriveCount: 1 });
    const context = contextNow();
    const [outcome] = await inspectBatch([toItem(ref as ExecutionRef)], context);
    expect(statusOf(outcome)).toBe("running");
    expect(context.logged).toEqual([expect.stringContaining("redriven")]);
  });
});

it("describes what the rate of listing does not reach, and lists no more where that is dearer", async () => {
  const older = populate(10, "older");
  populate(2_000, "foreign");
  const newer = populate(2, "newer");
  endAll(older, { status: "SUCCEEDED", output: "1" });
  // A third page would take longer than anybody waits.
  tools = toolsOver({ ...quotasOf(bench.facade.region, 1), list: tokenBucket(2, 0.01, clock.now) });
  const items = [...older, ...newer].map((ref) => ({ ref, want: "status" as const }));
  const expected = [...older.map(() => "succeeded"), "running", "running"];
  expect((await inspectBatch(items)).map(statusOf)).toEqual(expected);
  expect([asked("ListExecutions"), asked("DescribeExecution")]).toEqual([2, 10]);
  expect((await inspectBatch(items.slice(0, 9))).map(statusOf)).toEqual(expected.slice(0, 9));
  expect([asked("ListExecutions"), asked("DescribeExecution")]).toEqual([2, 19]);
});

it("tells what is known when no history is answered", async () => {
  const [ended, ...others] = populate(21, "ours");
  if (ended === undefined) throw new Error("nothing was started");
  bench.facade.end(ended, { status: "SUCCEEDED", output: "1" });
  let histories = 0;
  const history: SfnClient["history"] = (_arn, _page, signal) =>
    withSignal(signal, () => {
      histories++;
      return new Promise(() => {});
    });
  tools = { ...toolsOver(quotasOf(bench.facade.region, 1), { history }), detailsMs: 50 };
  const outcomes = await inspectBatch([ended, ...others].map((ref) => toItem(ref, "detail")));
  expect(outcomes.map(statusOf)).toEqual(["succeeded", ...others.map(() => "running")]);
  // Once time is up no further one is begun.
  expect(histories).toBe(8);
});

describe("AWS refuses", () => {
  it.each([
    [{ throttles: () => true }, { code: "throttled", retryAfterMs: 1_000 }],
    [
      { denies: ["DescribeExecution"] },
      { code: "denied", message: expect.stringContaining("states:DescribeExecution") },
    ],
    [{ credentialsExpired: true }, { code: "unavailable", message: expect.stringContaining("have expired") }],
  ])("everything: the look as a whole rejects (%j)", async (faults, reported) => {
    const items = populate(2, "ours").map((ref) => toItem(ref));
    bench.facade.setFaults(faults);
    await expect(inspectBatch(items)).rejects.toMatchObject(reported);
  });

  it("the list: the look rejects, and what may be described is not lost to it", async () => {
    const items = populate(10, "ours").map((ref) => toItem(ref));
    bench.facade.setFaults({ denies: ["ListExecutions"] });
    const reported = { code: "denied", message: expect.stringContaining("states:ListExecutions") };
    await expect(inspectBatch(items)).rejects.toMatchObject(reported);
    const few = items.slice(0, 2);
    expect((await inspectBatch(few)).map(statusOf)).toEqual(["running", "running"]);
  });

  it("the history: the status is told all the same, and why no questions are seen", async () => {
    const { ref } = await bench.adapter.start(
      { key: newKey(), target: bench.target("asks"), input: "{}", attempt: 1 },
      callContext(),
    );
    bench.facade.setFaults({ denies: ["GetExecutionHistory"] });
    const context = contextNow();
    const [outcome] = await inspectBatch([{ ref, want: "detail" }], context);
    expect(outcome).toEqual({ snapshot: expect.not.objectContaining({ questions: expect.anything() }) });
    expect(context.logged).toEqual([expect.stringContaining("states:GetExecutionHistory")]);
    await inspectBatch([{ ref, want: "detail" }], context);
    expect([context.logged.length, asked("GetExecutionHistory")]).toEqual([1, 1]);
  });

  it("the count of a Map's items: it is asked for once in a minute, and questions are told all the same", async () => {
    bench.facade.machine("mapping", { steps: [parallel("Both", [mapRun("Items", 10, 60_000)], [ask("Approve")])] });
    const { ref } = await bench.adapter.start(
      { key: newKey(), target: { stateMachine: "mapping" }, input: "{}", attempt: 1 },
      callContext(),
    );
    bench.facade.setFaults({ denies: ["DescribeMapRun"] });
    const context = contextNow();
    for (let time = 0; time < 3; time++)
      expect((await inspectBatch([{ ref, want: "detail" }], context)).map(statusOf)).toEqual(["waiting"]);
    expect(asked("DescribeMapRun")).toBe(1);
    expect(context.logged).toEqual([expect.stringContaining("states:DescribeMapRun")]);
  });
});

it("says once that a question cannot be put, since its token is not found", async () => {
  const deep = Array.from({ length: 14 }).reduce<JsonObject>((inner) => ({ inner }), { token: "t" });
  bench.facade.machine("hiding", { steps: [ask("Approve", {}, { parameters: () => ({ MessageBody: deep }) })] });
  const { ref } = await bench.adapter.start(
    { key: newKey(), target: { stateMachine: "hiding" }, input: "{}", attempt: 1 },
    callContext(),
  );
  const context = contextNow();
  for (let time = 0; time < 2; time++)
    expect((await inspectBatch([{ ref, want: "detail" }], context)).map(statusOf)).toEqual(["running"]);
  expect(context.logged).toEqual([
    expect.stringMatching(/hiding: the state Approve waits for a task token .*deeper than 12/),
  ]);
});

it("reads histories within their rate, those first that were read longest ago", async () => {
  const items = populate(60, "ours").map((ref) => toItem(ref, "detail"));
  const withDetails = async () => {
    const outcomes = await inspectBatch(items);
    return outcomes.flatMap((outcome, index) => ("snapshot" in outcome && outcome.snapshot.questions ? [index] : []));
  };
  const first = await withDetails();
  // A quarter of those that may be read at once; the others are kept for ends.
  expect(first).toHaveLength(8);
  expect(bench.facade.counts.GetExecutionHistory?.throttled).toBe(0);
  clock.advance(5_000);
  const second = await withDetails();
  expect(second).toHaveLength(8);
  expect(second.filter((index) => first.includes(index))).toEqual([]);
});
