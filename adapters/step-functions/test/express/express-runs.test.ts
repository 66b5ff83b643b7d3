import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { asExecutionRef, BridgeError, type ExecutionRef, type ExecutionUpdate } from "@taskbridge/core/adapter";
import type { SfnClient } from "../../src/aws/client.ts";
import { sfnClient } from "../../src/aws/sfn-client.ts";
import { type ExpressWaits, expressRuns } from "../../src/express/express-runs.ts";
import { machines } from "../../src/machines.ts";
import { parseOptions } from "../../src/settings/parse-options.ts";
import { callContext, newKey } from "../call-context.ts";
import { type Script, state } from "../facade/script.ts";
import { type FacadeBench, facadeBench } from "../facade-bench.ts";
import { until } from "../until.ts";

let bench: FacadeBench;
beforeEach(async () => {
  bench = await facadeBench({}, { type: "express" });
});
afterEach(async () => {
  await bench.adapter.close?.();
  await bench.facade.close();
});

const machine = (script: Script): { readonly stateMachine: string } => ({
  stateMachine: bench.facade.machine("quick", script, { type: "EXPRESS" }),
});

const start = (target: { readonly stateMachine: string }, context = callContext(), key = newKey()) =>
  bench.adapter.start({ key, target, input: '{"n":1}', attempt: 1 }, context);

const inspection = async (ref: string, context = callContext()) =>
  (await bench.adapter.inspect?.([{ ref: asExecutionRef(ref), want: "status" }], context))?.[0];

const toSink = (report: (update: ExecutionUpdate) => void) => ({
  targets: [],
  ended: () => {},
  sink: async ([update]: readonly ExecutionUpdate[]) => {
    if (update !== undefined) report(update);
  },
});

/** The adapter's inside with shorter waits, and its news. */
const patient = async (waits: ExpressWaits, client = newClient()) => {
  const closing = new AbortController();
  const runs = expressRuns(client, machines(client, "express"), closing.signal, waits);
  const event: ExecutionUpdate[] = [];
  let report = (): void => {};
  const first = new Promise<void>((resolve) => {
    report = resolve;
  });
  const subscription = await runs.watch(
    toSink((update) => {
      event.push(update);
      report();
    }),
  );
  const startOne = (target: { readonly stateMachine: string }, context = callContext()) =>
    runs.start({ key: newKey(), target, input: "{}", attempt: 1 }, context);
  const inspectOne = async (ref: ExecutionRef) => (await runs.inspect([{ ref, want: "status" }], callContext()))[0];
  return { runs, update: event, first, subscription, startOne, inspectOne };
};

const newClient = (): SfnClient =>
  sfnClient(parseOptions({ type: "express", region: bench.facade.region, endpoint: bench.facade.endpoint }));

it("declares what Express executions cannot", () => {
  const { adapter } = bench;
  expect(adapter.traits).toMatchObject({ start: { kind: "at-most-once" }, cancel: "none", questions: "none" });
  for (const verb of ["cancel", "answer", "heartbeat", "find"] as const) expect(adapter[verb]).toBeUndefined();
});

it("tells a quick end with the start, whatever it is", async () => {
  const done = await start(machine({ steps: [], end: { succeed: { files: 14 } } }));
  expect(done.snapshot).toMatchObject({ status: "succeeded", output: { kind: "json", value: { files: 14 } } });
  const failed = await start(machine({ steps: [], end: { fail: { error: "NoStock" } } }));
  expect(failed.snapshot).toMatchObject({ status: "failed", failure: { code: "NoStock" } });
  expect(await inspection(failed.ref)).toEqual({ snapshot: failed.snapshot });
});

it("starts one that takes longer, and tells its end to those who watch and those who look", async () => {
  const { startOne, inspectOne, first, update: event } = await patient({ startMs: 50, closeMs: 50 });
  const { ref, snapshot } = await startOne(machine({ steps: [state("Work", 800)], end: { succeed: 7 } }));
  expect(snapshot).toBeUndefined();
  expect(await inspectOne(ref)).toMatchObject({ snapshot: { status: "running" } });
  await first;
  const { snapshot: reported } = event[0] ?? {};
  expect(event).toMatchObject([{ ref, snapshot: { status: "succeeded", output: { kind: "json", value: 7 } } }]);
  expect(await inspectOne(ref)).toEqual({ snapshot: reported });
});

it("is lost, for certain, when the connection breaks", async () => {
  const { startOne, inspectOne, first } = await patient({ startMs: 50, closeMs: 50 });
  const { ref } = await startOne(machine({ steps: [state("Work", 60_000)] }));
  await bench.facade.close();
  await first;
  expect(await inspectOne(ref)).toEqual({ notFound: { proven: true, reason: expect.stringContaining("not heard") } });
});

it("runs beside hundreds of others", async () => {
  const { startOne, inspectOne } = await patient({ startMs: 3_500, closeMs: 50 });
  const target = machine({ steps: [state("Work", 60_000)] });
  // Connections are given up after three seconds, also while they wait for another to end.
  const started = await Promise.all(Array.from({ length: 60 }, () => startOne(target)));
  const seen = await Promise.all(started.map(({ ref }) => inspectOne(ref)));
  expect(seen.filter((outcome) => outcome !== undefined && "snapshot" in outcome)).toHaveLength(60);
  expect(bench.facade.executions(target.stateMachine)).toHaveLength(60);
});

describe("a refusal", () => {
  const refused = new BridgeError("throttled", "AWS limits the rate of states:StartSyncExecution", {
    notSent: true,
    retryAfterMs: 1_000,
    data: { awsError: "ThrottlingException" },
  });
  /** One that is refused when the test says so. */
  const refusing = () => {
    let refuse = (): void => {};
    const refusal = new Promise<never>((_resolve, reject) => {
      refuse = () => reject(refused);
    });
    return { client: { ...newClient(), startSync: () => refusal }, refuse };
  };

  it("that takes its time is told to who starts it, who may try again", async () => {
    const { client, refuse } = refusing();
    const { startOne } = await patient({ startMs: 5_000, closeMs: 50 }, client);
    const starting = startOne(machine({ steps: [] }));
    setTimeout(refuse, 1_800);
    await expect(starting).rejects.toMatchObject({ code: "throttled", notSent: true, retryAfterMs: 1_000 });
  });

  it("that comes when it was taken for started is told as what it is, not as lost", async () => {
    const { client, refuse } = refusing();
    const { startOne, inspectOne, update: event, first } = await patient({ startMs: 20, closeMs: 50 }, client);
    const { ref } = await startOne(machine({ steps: [] }));
    refuse();
    await first;
    const failure = {
      kind: "protocol",
      code: "ThrottlingException",
      reason: expect.stringContaining("did not start it"),
    };
    expect(event).toMatchObject([{ ref, snapshot: { status: "failed", failure } }]);
    expect(await inspectOne(ref)).toMatchObject({ snapshot: { status: "failed", failure } });
  });
});

it("is heard of while those who watch stop, for a while", async () => {
  const { startOne, update: event, subscription } = await patient({ startMs: 20, closeMs: 10_000 });
  await startOne(machine({ steps: [state("Work", 500)], end: { succeed: 7 } }));
  await subscription.close();
  expect(event).toMatchObject([{ snapshot: { status: "succeeded" } }]);
  const left = await patient({ startMs: 20, closeMs: 50 });
  await left.startOne(machine({ steps: [state("Work", 60_000)] }));
  await left.subscription.close();
  expect(left.update).toEqual([]);
});

it("is heard of as well when those who watch stop before its start was answered", async () => {
  const { startOne, update: event, subscription } = await patient({ startMs: 50, closeMs: 10_000 });
  const starting = startOne(machine({ steps: [state("Work", 1_000)], end: { succeed: 7 } }));
  await until("AWS is asked", async () => bench.facade.counts.StartSyncExecution?.asked);
  await subscription.close();
  expect((await starting).snapshot).toBeUndefined();
  expect(event).toMatchObject([{ snapshot: { status: "succeeded" } }]);
});

it("goes on when its start is given up, and is found by what that answers", async () => {
  const { startOne, inspectOne } = await patient({ startMs: 10_000, closeMs: 50 });
  const giveUp = new AbortController();
  const starting = startOne(machine({ steps: [state("Work", 60_000)] }), callContext({ signal: giveUp.signal }));
  await until("AWS is asked", async () => bench.facade.counts.StartSyncExecution?.asked);
  giveUp.abort();
  expect(await inspectOne((await starting).ref)).toMatchObject({ snapshot: { status: "running" } });
});

it("is not started twice: a broken connection leaves its start unknown", async () => {
  const target = machine({ steps: [] });
  bench.facade.setFaults({ losesAnswer: (action) => action === "StartSyncExecution" });
  await expect(start(target)).rejects.toMatchObject({ code: "outcome_unknown", notSent: false });
  expect(bench.facade.executions(target.stateMachine)).toHaveLength(1);
});

describe("one that another process awaits", () => {
  const startedAt = Date.UTC(2026, 0, 1);
  const ref = JSON.stringify({ v: 1, express: newKey(), at: startedAt });

  it("may run while one could, and is lost after that", async () => {
    const early = callContext({ now: () => startedAt + 300_000 });
    expect(await inspection(ref, early)).toMatchObject({ snapshot: { status: "running", startedAt } });
    const late = callContext({ now: () => startedAt + 361_000 });
    expect(await inspection(ref, late)).toMatchObject({ notFound: { proven: true } });
  });
});

it("refuses a Standard machine, what is denied, and a ref that is none", async () => {
  const standard = start({ stateMachine: "succeeds" });
  await expect(standard).rejects.toMatchObject({ code: "misconfigured", notSent: true });
  const target = machine({ steps: [] });
  bench.facade.setFaults({ denies: ["StartSyncExecution"] });
  const reported = { code: "denied", notSent: true, message: expect.stringContaining("states:StartSyncExecution") };
  await expect(start(target)).rejects.toMatchObject(reported);
  expect(await inspection("garbage")).toMatchObject({ error: { code: "invalid_input" } });
});

it("keeps a large output for who reads it", async () => {
  const { ref, snapshot } = await start(machine({ steps: [], end: { succeed: "x".repeat(100_000) } }));
  expect(snapshot?.output).toMatchObject({ kind: "stream", bytes: 100_002 });
  const chunk = await bench.adapter.readOutput?.(ref, { offset: 99_999, length: 10 }, callContext());
  expect([Buffer.from(chunk?.bytes ?? []).toString(), chunk?.totalBytes]).toEqual(['xx"', 100_002]);
});
