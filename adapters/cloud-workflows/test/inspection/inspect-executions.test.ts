import { describe, expect, test } from "@jest/globals";
import { asExecutionRef, type ExecutionRef, type InspectItem, isBridgeError } from "@taskbridge/core/adapter";
import type { AdapterOnFake } from "../adapter-on-fake.ts";
import { callContext } from "../call-context.ts";
import { loop, runsOn, type Script, step } from "../fake/script.ts";
import { openedAdapter } from "../opened-adapter.ts";

const refOf = ({ fake }: AdapterOnFake, name: string): ExecutionRef =>
  asExecutionRef(name.replace(fake.projectNumber, fake.project));

const refsOf = (on: AdapterOnFake, names: readonly string[]): readonly ExecutionRef[] =>
  names.map((name) => refOf(on, name));

const ours = { labels: { mcp_by: "taskbridge" } };

const inspectAll = (on: AdapterOnFake, refs: readonly ExecutionRef[], want: InspectItem["want"] = "status") =>
  on.adapter.inspect?.(
    refs.map((ref) => ({ ref, want })),
    callContext(),
  ) ?? Promise.resolve([]);

const statusesOf = (outcomes: readonly object[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) {
    const status =
      "snapshot" in outcome ? (outcome.snapshot as { status: string }).status : (Object.keys(outcome)[0] ?? "");
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
};

const ends: Script = { steps: [step("work", 1_000)], end: { succeed: { files: 3 } } };

describe("one execution", () => {
  test("runs at a step, then ends with its result", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", ends);
    const startedAt = on.clock.now();
    const ref = await on.start("publish");
    expect(await on.see(ref)).toEqual({ status: "running", progress: { message: "work" }, startedAt });
    on.clock.advance(1_000);
    expect(await on.see(ref)).toEqual({
      status: "succeeded",
      output: { kind: "json", value: { files: 3 } },
      startedAt,
      endedAt: startedAt + 1_000,
    });
  });

  test("fails with what was raised and where", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", {
      steps: [step("fetch", 10)],
      end: { raise: { message: "no such file", code: 404, tags: ["HttpError"] } },
    });
    const ref = await on.start("publish");
    on.clock.advance(1_000);
    const { status, failure } = await on.see(ref);
    expect(status).toBe("failed");
    expect(failure).toMatchObject({ kind: "job", code: "HttpError" });
    expect(failure?.reason).toMatch(/^no such file \(404\) \(in step fetch of main/);
    expect(failure?.detail).toContain('step "fetch"');
  });

  test("waits in the backlog", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", runsOn);
    on.fake.limitExecutions(1);
    const [, queued] = [await on.start("publish"), await on.start("publish")];
    expect(await on.see(queued)).toEqual({ status: "queued" });
  });

  test("has no console page at a local engine, and has one at Google", async () => {
    const { consoleUrlOf, parseRef } = await import("../../src/mapping/execution-name.ts");
    const ref = asExecutionRef("projects/p/locations/l/workflows/w/executions/e");
    expect(consoleUrlOf(parseRef(ref))).toBe(
      "https://console.cloud.google.com/workflows/workflow/l/w/execution/e/summary?project=p",
    );
  });

  test.each([
    [
      "data that cannot be read",
      { state: "UNAVAILABLE", stateError: { details: "key revoked", type: "KMS_ERROR" } },
      /cannot read.*key revoked/,
    ],
    ["a state that was added since", { state: "SUSPENDED" }, /not known here/],
  ])("goes on being looked at with %s", async (_name, reported, why) => {
    const on = await openedAdapter();
    on.fake.workflow("publish", ends);
    const ref = await on.start("publish");
    on.fake.override(ref, reported);
    expect(await on.inspect(ref)).toEqual({ unavailable: expect.stringMatching(why) });
    on.fake.override(ref, undefined);
    on.clock.advance(5_000);
    expect((await on.see(ref)).status).toBe("succeeded");
  });

  test("is not found, unproven, when its workflow is deleted", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const ref = await on.start("publish");
    on.fake.remove(workflow);
    expect(await on.inspect(ref)).toEqual({ notFound: { proven: false, reason: expect.stringContaining("deleted") } });
  });

  test.each([
    ["no JSON at all", "{oops", { kind: "text", text: "{oops" }],
    [
      "an integer that JavaScript cannot hold",
      '{"id":9007199254740993}',
      { kind: "text", text: '{"id":9007199254740993}' },
    ],
  ])("keeps a result of %s letter for letter", async (_name, resultText, output) => {
    const on = await openedAdapter();
    on.fake.workflow("publish", { steps: [step("work", 10)], end: { resultText } });
    const ref = await on.start("publish");
    on.clock.advance(1_000);
    expect((await on.see(ref)).output).toEqual(output);
  });

  test("gives a large result in parts", async () => {
    const on = await openedAdapter();
    const resultText = JSON.stringify({ text: "é".repeat(50_000) });
    on.fake.workflow("publish", { steps: [step("work", 10)], end: { resultText } });
    const ref = await on.start("publish");
    on.clock.advance(1_000);
    const bytes = Buffer.from(resultText);
    expect((await on.see(ref)).output).toEqual({ kind: "stream", bytes: bytes.length, mediaType: "application/json" });
    const chunk = await on.adapter.readOutput?.(ref, { offset: 60_000, length: 10_000 }, callContext());
    expect(chunk?.totalBytes).toBe(bytes.length);
    expect(Buffer.from(chunk?.bytes ?? []).equals(bytes.subarray(60_000, 70_000))).toBe(true);
  });

  test("counts a loop where the history is detailed", async () => {
    const on = await openedAdapter();
    on.fake.workflow(
      "publish",
      { steps: [loop("each", 4, () => [step("convert", 1_000)])] },
      { executionHistoryLevel: "EXECUTION_HISTORY_DETAILED" },
    );
    const ref = await on.start("publish");
    on.clock.advance(2_500);
    expect((await on.see(ref, "detail")).progress).toEqual({ done: 2, total: 4, message: "convert" });
  });
});

describe("many executions", () => {
  test("are listed, and read one by one only when they have ended", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const foreign = on.fake.populate(workflow, 1_500);
    const refs = refsOf(on, on.fake.populate(workflow, 500, ours));
    for (const ref of refs.slice(0, 20)) on.fake.end(ref, { state: "SUCCEEDED", result: "1" });
    const outcomes = await inspectAll(on, refs);
    expect(statusesOf(outcomes)).toEqual({ running: 480, succeeded: 20 });
    // Foreign ones are left out by Google.
    expect(on.fake.journal.count("listExecutions").asked).toBe(1);
    expect(on.fake.journal.count("getExecution").asked).toBe(20);
    expect(foreign).toHaveLength(1_500);
  });

  test("have their steps from a list in FULL view where that is cheaper", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const refs = refsOf(on, on.fake.populate(workflow, 150, ours));
    const outcomes = await inspectAll(on, refs, "detail");
    expect(outcomes.every((outcome) => "snapshot" in outcome && outcome.snapshot.progress?.message === "work")).toBe(
      true,
    );
    expect(on.fake.journal.count("getExecution").asked).toBe(0);
    expect(on.fake.journal.count("listExecutions").asked).toBe(2);
  });

  test("that somebody else has started are read one by one", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const refs = refsOf(on, on.fake.populate(workflow, 30));
    expect(statusesOf(await inspectAll(on, refs))).toEqual({ running: 30 });
    expect(on.fake.journal.count("getExecution").asked).toBe(30);
  });

  test("share a list with whoever asks meanwhile", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const refs = refsOf(on, on.fake.populate(workflow, 300, ours));
    await Promise.all([
      inspectAll(on, refs.slice(0, 100)),
      inspectAll(on, refs.slice(100, 200)),
      inspectAll(on, refs.slice(200)),
    ]);
    expect(on.fake.journal.count("listExecutions").asked).toBe(1);
  });

  test("that a list does not show yet are read before they count as missing", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    on.fake.setLag({ listMs: 10_000 });
    const refs = refsOf(on, on.fake.populate(workflow, 30, ours));
    expect(statusesOf(await inspectAll(on, refs))).toEqual({ running: 30 });
  });

  test("that a list shows as ended are read with what came of them", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const names = on.fake.populate(workflow, 12, ours);
    const [first = "", second = ""] = names;
    on.fake.end(first, { state: "SUCCEEDED", result: '{"important":42}' });
    on.fake.end(second, { state: "FAILED", error: { payload: '"disk full"' } });
    const states: Readonly<Record<string, string>> = { [first]: "SUCCEEDED", [second]: "FAILED" };
    const executions = names.map((name) => ({ name, state: states[name] ?? "ACTIVE" }));
    on.fake.setFaults({ on: { listExecutions: { kind: "garbage", body: JSON.stringify({ executions }) } } });
    const [succeeded, failed, ...running] = await inspectAll(on, refsOf(on, names));
    expect(succeeded).toMatchObject({ snapshot: { output: { kind: "json", value: { important: 42 } } } });
    expect(failed).toMatchObject({ snapshot: { failure: { reason: "disk full" } } });
    expect(statusesOf(running)).toEqual({ running: 10 });
  });

  test("are read one by one where they may not be listed", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const refs = refsOf(on, on.fake.populate(workflow, 30, ours));
    on.fake.setFaults({ denies: ["workflows.executions.list"] });
    expect(statusesOf(await inspectAll(on, refs))).toEqual({ running: 30 });
  });

  test("with an unreadable ref and an unknown one among them lose nothing", async () => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", ends);
    const [good = asExecutionRef("")] = refsOf(on, on.fake.populate(workflow, 1));
    const unknown = asExecutionRef(good.replace(/[\w-]+$/, "00000000-0000-0000-0000-000000000000"));
    const outcomes = await inspectAll(on, [asExecutionRef("{}"), good, unknown, good]);
    expect(outcomes).toEqual([
      { error: expect.objectContaining({ code: "invalid_input" }) },
      { snapshot: expect.objectContaining({ status: "running" }) },
      { notFound: expect.objectContaining({ proven: false }) },
      { snapshot: expect.objectContaining({ status: "running" }) },
    ]);
  });
});

describe("trouble", () => {
  test.each([
    ["throttled", "RESOURCE_EXHAUSTED", "throttled"],
    ["unreachable", "UNAVAILABLE", "unavailable"],
    ["denied", "PERMISSION_DENIED", "denied"],
  ] as const)("rejects as a whole when nothing could be asked: %s", async (_name, code, expected) => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const refs = refsOf(on, on.fake.populate(workflow, 3));
    on.fake.setFaults({ on: { getExecution: { kind: "error", code, retryAfterS: 9 } } });
    const error: unknown = await inspectAll(on, refs).catch((thrown: unknown) => thrown);
    expect(isBridgeError(error) && error.code).toBe(expected);
    if (expected === "throttled") expect(isBridgeError(error) && error.retryAfterMs).toBe(9_000);
  });

  test.each([
    ["lists", "listExecutions", 1],
    ["reads", "getExecution", 50],
  ] as const)("asks for nothing more once Google's quota of %s is used up", async (_name, method, max) => {
    const on = await openedAdapter();
    const workflow = on.fake.workflow("publish", runsOn);
    const refs = refsOf(on, on.fake.populate(workflow, 200));
    on.fake.setFaults({ on: { [method]: { kind: "error", code: "RESOURCE_EXHAUSTED", retryAfterS: 9 } } });
    await expect(inspectAll(on, refs, "detail")).rejects.toMatchObject({ code: "throttled", retryAfterMs: 9_000 });
    const refused = on.fake.journal.calls.filter(({ status }) => status === 429);
    expect(refused.length).toBeLessThanOrEqual(max);
    expect(on.fake.journal.count(method).asked).toBe(refused.length);
    if (method === "listExecutions") expect(on.fake.journal.count("getExecution").asked).toBe(0);
  });

  test("does not take a proxy's word that an execution is gone", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", runsOn);
    const ref = await on.start("publish");
    on.fake.setFaults({ on: { getExecution: { kind: "html", status: 404 } } });
    await expect(on.inspect(ref)).rejects.toMatchObject({ code: "unavailable" });
  });

  test.each([{}, { name: "projects/1/locations/l/workflows/w/executions/other" }])(
    "does not take an answer that is about none or another: %j",
    async (named) => {
      const on = await openedAdapter();
      on.fake.workflow("publish", runsOn);
      const ref = await on.start("publish");
      const body = JSON.stringify({ ...named, state: "SUCCEEDED" });
      on.fake.setFaults({ on: { getExecution: { kind: "garbage", body } } });
      await expect(on.inspect(ref)).rejects.toMatchObject({ code: "unavailable" });
    },
  );

  test("recovers from a token that has expired, and from a page of a gateway", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", runsOn);
    const ref = await on.start("publish");
    on.fake.setFaults({ tokensExpired: true });
    await expect(on.inspect(ref)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("credentials"),
    });
    on.fake.setFaults({ on: { getExecution: { kind: "html", status: 503 } } });
    await expect(on.inspect(ref)).rejects.toMatchObject({ code: "unavailable" });
    on.fake.setFaults({ on: { getExecution: { kind: "garbage", body: "}{" } } });
    await expect(on.inspect(ref)).rejects.toMatchObject({ code: "unavailable" });
    on.fake.setFaults({});
    expect((await on.see(ref)).status).toBe("running");
  });

  test("ends promptly when it is given up", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", runsOn);
    const ref = await on.start("publish");
    on.fake.setFaults({ on: { getExecution: { kind: "hang", isAccepted: false } } });
    const giveUp = new AbortController();
    const inspected = on.adapter.inspect?.([{ ref, want: "status" }], callContext({ signal: giveUp.signal }));
    setTimeout(() => giveUp.abort(), 50);
    await expect(inspected).rejects.toMatchObject({ code: "unavailable" });
  });
});
