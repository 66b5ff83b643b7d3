import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { StartKey, StartRequest } from "@taskbridge/core/adapter";
import type { StepFunctionsTarget } from "../src/index.ts";
import { callContext, newKey } from "./call-context.ts";
import { countStarted, type FacadeBench, facadeBench } from "./facade-bench.ts";

let bench: FacadeBench;
beforeEach(async () => {
  bench = await facadeBench();
});
afterEach(async () => {
  await bench.adapter.close?.();
  await bench.facade.close();
});

const request = (key: StartKey, more: Partial<StartRequest<StepFunctionsTarget>> = {}) => ({
  key,
  target: bench.target("runs-until-cancelled"),
  input: '{"n":1}',
  attempt: 1,
  ...more,
});
const start = (key: StartKey, more?: Partial<StartRequest<StepFunctionsTarget>>) =>
  bench.adapter.start(request(key, more), callContext());
const asked = (action: string): number => bench.facade.counts[action]?.asked ?? 0;

describe("one start is one execution", () => {
  it("sends a start once, and says that nobody knows, when its answer is lost (case 25)", async () => {
    const key = newKey();
    bench.facade.setFaults({ losesAnswer: (action) => action === "StartExecution" });
    await expect(start(key)).rejects.toMatchObject({ code: "outcome_unknown", notSent: false });
    expect([asked("StartExecution"), countStarted(bench.facade)]).toEqual([1, 1]);
    bench.facade.setFaults({});
    const { ref } = await start(key, { attempt: 2, firstSentAt: Date.now() });
    expect(ref).toContain(key);
    expect(countStarted(bench.facade)).toBe(1);
  });

  it("adopts one that has ended meanwhile, with its end", async () => {
    const key = newKey();
    const target = bench.target("succeeds");
    bench.facade.setFaults({ losesAnswer: (action) => action === "StartExecution" });
    await expect(start(key, { target })).rejects.toMatchObject({ code: "outcome_unknown" });
    bench.facade.setFaults({});
    const [execution] = bench.facade.executions(`arn:aws:states:eu-west-1:123456789012:stateMachine:succeeds`);
    bench.facade.end(execution?.arn ?? "", { status: "FAILED", error: "E" });
    const { snapshot } = await start(key, { target, attempt: 2, firstSentAt: Date.now() });
    expect(snapshot).toMatchObject({ status: "failed", failure: { code: "E" } });
  });

  it("says that nobody knows while AWS has the name but does not show the execution", async () => {
    const key = newKey();
    const target = bench.target("succeeds");
    const { ref } = await start(key, { target });
    bench.facade.end(ref, { status: "ABORTED" });
    bench.facade.setLag({ describeMs: 60_000 });
    await expect(start(key, { target, attempt: 2 })).rejects.toMatchObject({
      code: "outcome_unknown",
      retryAfterMs: 1_000,
    });
    bench.facade.setLag({});
    expect((await start(key, { target, attempt: 3 })).ref).toBe(ref);
  });

  it("starts a version and an alias, and finds them by the machine's name", async () => {
    const arn = bench.facade.machine("released", { steps: [] }, { versions: [3], aliases: { live: 3 } });
    for (const target of [
      { stateMachine: arn, version: "3" },
      { stateMachine: arn, alias: "live" },
    ]) {
      const key = newKey();
      const { ref } = await start(key, { target });
      bench.facade.end(ref, { status: "ABORTED" });
      expect((await start(key, { target, attempt: 2 })).ref).toBe(ref);
      expect(await bench.adapter.find?.({ key, target, firstSentAt: 0 }, callContext())).toBe(ref);
    }
    await expect(start(newKey(), { target: { stateMachine: arn, alias: "gone" } })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("what cannot be started", () => {
  it("is refused before the call when the input is too large", async () => {
    const input = JSON.stringify("ü".repeat(131_072));
    await expect(start(newKey(), { input })).rejects.toMatchObject({ code: "invalid_input", notSent: true });
    expect(bench.facade.requests).toEqual([]);
  });

  it("is an Express machine in an adapter for Standard ones", async () => {
    bench.facade.machine("quick", { steps: [] }, { type: "EXPRESS" });
    const starting = start(newKey(), { target: { stateMachine: "quick" } });
    await expect(starting).rejects.toMatchObject({
      code: "misconfigured",
      notSent: true,
      message: expect.stringContaining("type: express"),
    });
    expect(asked("StartExecution")).toBe(0);
  });

  it("is a machine that was replaced by an Express one meanwhile", async () => {
    const arn = bench.facade.machine("changing", { steps: [] });
    await start(newKey(), { target: { stateMachine: arn } });
    bench.facade.remove(arn, "gone");
    bench.facade.machine("changing", { steps: [] }, { type: "EXPRESS" });
    await expect(start(newKey(), { target: { stateMachine: arn } })).rejects.toMatchObject({ code: "misconfigured" });
  });

  it.each(["missing", "arn:aws:states:eu-west-1:123456789012:stateMachine:missing"])("is %s", async (stateMachine) => {
    await expect(start(newKey(), { target: { stateMachine } })).rejects.toMatchObject({
      code: "not_found",
      notSent: true,
    });
  });

  it("is a machine that is being deleted", async () => {
    const arn = bench.facade.machine("leaving", { steps: [] });
    bench.facade.remove(arn, "deleting");
    await expect(start(newKey(), { target: { stateMachine: arn } })).rejects.toMatchObject({ code: "not_found" });
  });

  it.each([
    [{ denies: ["StartExecution"] }, "denied", "states:StartExecution"],
    [{ denies: ["DescribeStateMachine"] }, "denied", "states:DescribeStateMachine"],
    [{ credentialsExpired: true }, "unavailable", "have expired"],
    [{ throttles: () => true }, "throttled", "limits the rate"],
    [{ fails: () => 503 as const }, "unavailable", "states:ListStateMachines"],
  ])("has a cause that is told: %j", async (faults, code, text) => {
    bench.facade.setFaults(faults);
    await expect(start(newKey())).rejects.toMatchObject({
      code,
      notSent: true,
      message: expect.stringContaining(text),
    });
    expect(countStarted(bench.facade)).toBe(0);
  });

  it("is all while too many executions are open", async () => {
    bench.facade.limitOpenExecutions(0);
    await expect(start(newKey())).rejects.toMatchObject({ code: "limit_exceeded", notSent: true });
  });

  it("is all while AWS is away", async () => {
    await bench.facade.close();
    await expect(start(newKey())).rejects.toMatchObject({ code: "unavailable", notSent: true });
  });
});

it("stops with the reason, and says so when it may not", async () => {
  const { ref } = await start(newKey());
  bench.facade.setFaults({ denies: ["StopExecution"] });
  const denied = expect.stringContaining("states:StopExecution");
  await expect(bench.adapter.cancel?.(ref, "no need", callContext())).rejects.toMatchObject({
    code: "denied",
    message: denied,
  });
  bench.facade.setFaults({});
  await bench.adapter.cancel?.(ref, "no need", callContext());
  expect(bench.facade.execution(ref)).toMatchObject({ status: "ABORTED", cause: "no need" });
});
