import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { StartKey, StartRequest } from "@taskbridge/core/adapter";
import { type StepFunctionsTarget, stepFunctions } from "../../src/index.ts";
import { callContext, newKey } from "../call-context.ts";
import { runsOn } from "../facade/script.ts";
import { countStarted, type FacadeBench, facadeBench } from "../facade-bench.ts";

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
const arnOf = (name: string): string => `arn:aws:states:eu-west-1:123456789012:stateMachine:${name}`;
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
    bench.facade.setFaults({ losesAnswer: (action) => action === "StartExecution" });
    await expect(start(key)).rejects.toMatchObject({ code: "outcome_unknown" });
    bench.facade.setFaults({});
    const [execution] = bench.facade.executions(arnOf("runs-until-cancelled"));
    bench.facade.end(execution?.arn ?? "", { status: "FAILED", error: "E" });
    const { snapshot } = await start(key, { attempt: 2, firstSentAt: Date.now() });
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
      notSent: true,
      message: expect.stringContaining("has no alias gone"),
    });
  });
});

describe("of an earlier send, whose answer was lost, a refusal says nothing", () => {
  const key = newKey();
  let sentAt = 0;
  let machine = "";

  /** What a process after that one, which knows nothing of it, is told. */
  const startAgain = async (more: Partial<StartRequest<StepFunctionsTarget>> = {}, afterMs = 1_000) => {
    const adapter = stepFunctions({ region: bench.facade.region, endpoint: bench.facade.endpoint });
    const context = callContext({ now: () => sentAt + afterMs });
    return adapter
      .start(request(key, { target: { stateMachine: machine }, attempt: 2, firstSentAt: sentAt, ...more }), context)
      .finally(() => adapter.close?.());
  };

  beforeEach(() => {
    sentAt = Date.now();
    machine = bench.facade.machine("orders", runsOn);
  });

  const send = async (fault: "losesAnswer" | "losesRequest") => {
    bench.facade.setFaults({ [fault]: (action: string) => action === "StartExecution" });
    await expect(start(key, { target: { stateMachine: machine } })).rejects.toMatchObject({ code: "outcome_unknown" });
    bench.facade.setFaults({});
  };

  it.each<[string, () => void]>([
    ["is being deleted", () => bench.facade.remove(machine, "deleting")],
    ["may not be started any more", () => bench.facade.setFaults({ denies: ["StartExecution"] })],
    ["may not be described any more", () => bench.facade.setFaults({ denies: ["DescribeStateMachine"] })],
    [
      "cannot be started for its rate",
      () => bench.facade.setFaults({ throttles: (name) => name === "StartExecution" }),
    ],
    [
      "cannot be started for AWS' own trouble",
      () => bench.facade.setFaults({ fails: (name) => (name === "StartExecution" ? 503 : undefined) }),
    ],
    ["is one of too many", () => bench.facade.limitOpenExecutions(1)],
  ])("and what runs is adopted when its machine %s", async (_name, spoil) => {
    await send("losesAnswer");
    spoil();
    expect(await startAgain()).toMatchObject({ ref: expect.stringContaining(key), snapshot: { status: "running" } });
    expect(bench.facade.executions(machine)).toHaveLength(1);
  });

  it("also by the machine's name", async () => {
    await send("losesAnswer");
    bench.facade.setFaults({ denies: ["DescribeStateMachine", "StartExecution"] });
    const { ref } = await startAgain({ target: { stateMachine: "orders" } });
    expect(ref).toContain(key);
  });

  it("and while AWS shows none, it may still do so", async () => {
    await send("losesAnswer");
    bench.facade.setLag({ describeMs: 60_000 });
    bench.facade.remove(machine, "deleting");
    await expect(startAgain()).rejects.toMatchObject({ code: "outcome_unknown", retryAfterMs: 1_000 });
    bench.facade.setLag({});
    expect((await startAgain()).ref).toContain(key);
  });

  it("and is told once AWS would show an execution", async () => {
    await send("losesRequest");
    bench.facade.remove(machine, "deleting");
    await expect(startAgain({}, 29_000)).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(startAgain({}, 30_000)).rejects.toMatchObject({ code: "not_found", notSent: true });
  });

  it("nor does what is refused when AWS is asked", async () => {
    await send("losesAnswer");
    bench.facade.setFaults({ denies: ["StartExecution", "DescribeExecution"] });
    await expect(startAgain({}, 600_000)).rejects.toMatchObject({
      code: "outcome_unknown",
      message: expect.stringMatching(/states:DescribeExecution.*states:StartExecution/),
    });
    const [execution] = bench.facade.executions(machine);
    bench.facade.end(execution?.arn ?? "", { status: "ABORTED" });
    bench.facade.setFaults({ denies: ["DescribeExecution"] });
    await expect(startAgain()).rejects.toMatchObject({ code: "outcome_unknown" });
  });

  it("but a limited rate stays one that is waited for", async () => {
    await send("losesRequest");
    bench.facade.setFaults({ throttles: (name) => name === "StartExecution" });
    await expect(startAgain()).rejects.toMatchObject({ code: "throttled", retryAfterMs: 1_000 });
  });

  it("and a first send is refused without another question", async () => {
    bench.facade.setFaults({ denies: ["StartExecution"] });
    await expect(start(key, { target: { stateMachine: machine } })).rejects.toMatchObject({ code: "denied" });
    expect(asked("DescribeExecution")).toBe(0);
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
  // An emoji is two units: AWS would refuse half of one.
  await bench.adapter.cancel?.(ref, `${"n".repeat(999)}\u{1f600}`, callContext());
  expect(bench.facade.execution(ref)).toMatchObject({ status: "ABORTED", cause: "n".repeat(999) });
});
