import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { asExecutionRef, type ExecutionUpdate } from "@taskbridge/core/adapter";
import { callContext, newKey } from "../call-context.ts";
import { type Script, state } from "../facade/script.ts";
import { type FacadeBench, facadeBench } from "../facade-bench.ts";

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

const look = async (ref: string, context = callContext()) =>
  (await bench.adapter.inspect?.([{ ref: asExecutionRef(ref), want: "status" }], context))?.[0];

/** The next news of the adapter. */
const listen = async (): Promise<Promise<ExecutionUpdate>> => {
  let tell: (update: ExecutionUpdate) => void = () => {};
  const news = new Promise<ExecutionUpdate>((resolve) => {
    tell = resolve;
  });
  await bench.adapter.watch?.(
    {
      targets: [],
      ended: () => {},
      sink: async ([update]) => {
        if (update !== undefined) tell(update);
      },
    },
    callContext(),
  );
  return news;
};

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
  expect(await look(failed.ref)).toEqual({ snapshot: failed.snapshot });
});

it("starts one that takes longer, and tells its end to those who watch and those who look", async () => {
  const key = newKey();
  const news = listen();
  const { ref, snapshot } = await start(
    machine({ steps: [state("Work", 1_800)], end: { succeed: 7 } }),
    callContext(),
    key,
  );
  expect(snapshot).toBeUndefined();
  expect(await look(ref)).toMatchObject({ snapshot: { status: "running" } });
  const told = await await news;
  expect(told).toMatchObject({ key, ref, snapshot: { status: "succeeded", output: { kind: "json", value: 7 } } });
  expect(await look(ref)).toEqual({ snapshot: told.snapshot });
});

it("is lost, for certain, when the connection breaks", async () => {
  const { ref } = await start(machine({ steps: [state("Work", 60_000)] }));
  const news = listen();
  await bench.facade.close();
  await await news;
  expect(await look(ref)).toEqual({ notFound: { proven: true, reason: expect.stringContaining("not heard") } });
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
    expect(await look(ref, early)).toMatchObject({ snapshot: { status: "running", startedAt } });
    const late = callContext({ now: () => startedAt + 361_000 });
    expect(await look(ref, late)).toMatchObject({ notFound: { proven: true } });
  });
});

it("refuses a Standard machine, what is denied, and a ref that is none", async () => {
  const standard = start({ stateMachine: "succeeds" });
  await expect(standard).rejects.toMatchObject({ code: "misconfigured", notSent: true });
  const target = machine({ steps: [] });
  bench.facade.setFaults({ denies: ["StartSyncExecution"] });
  const told = { code: "denied", notSent: true, message: expect.stringContaining("states:StartSyncExecution") };
  await expect(start(target)).rejects.toMatchObject(told);
  expect(await look("garbage")).toMatchObject({ error: { code: "invalid_input" } });
});

it("keeps a large output for who reads it", async () => {
  const { ref, snapshot } = await start(machine({ steps: [], end: { succeed: "x".repeat(100_000) } }));
  expect(snapshot?.output).toMatchObject({ kind: "stream", bytes: 100_002 });
  const chunk = await bench.adapter.readOutput?.(ref, { offset: 99_999, length: 10 }, callContext());
  expect([Buffer.from(chunk?.bytes ?? []).toString(), chunk?.totalBytes]).toEqual(['xx"', 100_002]);
});
