import type { ExecutionsClient } from "@google-cloud/workflows";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { errorOf, localClient } from "./local-client.ts";
import { type OpenFake, openFake } from "./open-fake.ts";
import { runsOn, step } from "./script.ts";

describe("executions on the fake", () => {
  let bench: OpenFake;
  let client: ExecutionsClient;
  let parent: string;
  beforeEach(async () => {
    bench = await openFake();
    client = await localClient(bench.fake.port);
    parent = bench.fake.workflow("orders", { steps: [step("pack", 1_500)], end: { succeed: { files: 14 } } });
  });
  afterEach(async () => {
    await client.close();
    await bench.close();
  });

  const create = async (argument = '{"n":1}', labels: Record<string, string> = {}) =>
    (await client.createExecution({ parent, execution: { argument, labels } }))[0];
  const get = async (name: string | null | undefined) => (await client.getExecution({ name: name ?? "" }))[0];

  it("runs a script to its end, in the client's own form", async () => {
    const { name, state, argument, labels } = await create('{"n":1}', { mcp_run: "mcp-1" });
    expect(name).toMatch(
      /^projects\/123456789012\/locations\/europe-west1\/workflows\/orders\/executions\/[0-9a-f-]{36}$/,
    );
    expect({ state, argument, labels }).toEqual({ state: "ACTIVE", argument: '{"n":1}', labels: { mcp_run: "mcp-1" } });
    expect((await get(name)).status).toMatchObject({ currentSteps: [{ routine: "main", step: "pack" }] });
    bench.clock.advance(1_500);
    expect(await get(name)).toMatchObject({
      state: "SUCCEEDED",
      result: '{"files":14}',
      duration: { seconds: "1", nanos: 500_000_000 },
      workflowRevisionId: "000001-a4d",
    });
  });

  it("tells times to the nanosecond, and leaves out what is empty", async () => {
    const { name } = await create();
    expect((await bench.rest(name ?? "")).body).toEqual({
      name,
      createTime: expect.stringMatching(/^2026-06-01T00:00:00\.\d{9}Z$/),
      startTime: expect.stringMatching(/^2026-06-01T00:00:00\.\d{9}Z$/),
      state: "ACTIVE",
      argument: '{"n":1}',
      workflowRevisionId: "000001-a4d",
      status: { currentSteps: [{ routine: "main", step: "pack" }] },
    });
  });

  it("may cancel with an error, too", async () => {
    const { name } = await create();
    bench.fake.end(name ?? "", { state: "CANCELLED", error: { payload: '"stopped by an operator"' } });
    expect(await get(name)).toMatchObject({ state: "CANCELLED", error: { payload: '"stopped by an operator"' } });
  });

  it("is not there yet for reads that lag", async () => {
    bench.fake.setLag({ getMs: 1_000 });
    const { name } = await create();
    expect(await errorOf(get(name))).toMatchObject({ code: 5 });
    bench.clock.advance(1_000);
    expect((await get(name)).state).toBe("ACTIVE");
  });

  it("makes another execution of each create", async () => {
    const [one, other] = [await create(), await create()];
    expect(one.name).not.toBe(other.name);
    expect(bench.fake.executions(parent)).toHaveLength(2);
  });

  it("cancels what runs and not what has ended", async () => {
    const { name } = await create();
    const cancel = () => client.cancelExecution({ name: name ?? "" });
    expect((await cancel())[0]).toMatchObject({ state: "CANCELLED" });
    expect(await errorOf(cancel())).toMatchObject({ code: 9 });
  });

  it.each([
    ["no JSON", "{x", {}],
    ["more than 32 KB", JSON.stringify("é".repeat(16_384)), {}],
    ["a label in capitals", "{}", { Mcp: "a" }],
    ["a label's value with a dot", "{}", { mcp: "a.b" }],
    ["a label that is too long", "{}", { mcp: "x".repeat(64) }],
  ])("refuses %s", async (_, argument, labels) => {
    expect(await errorOf(create(argument, labels))).toMatchObject({ code: 3 });
    expect(bench.fake.journal.starts).toEqual([]);
  });

  it("takes an argument of exactly 32 KB", async () => {
    const argument = JSON.stringify("x".repeat(32_766));
    expect((await get((await create(argument)).name)).argument).toBe(argument);
  });

  it("knows no other workflow, location or project", async () => {
    const at = (location: string) =>
      errorOf(client.createExecution({ parent: `${location}/workflows/orders`, execution: {} }));
    expect(await at("projects/demo/locations/mars-1")).toMatchObject({ code: 5 });
    expect(await at("projects/other/locations/europe-west1")).toMatchObject({ code: 7 });
    expect(await errorOf(client.getExecution({ name: `${parent}/executions/none` }))).toMatchObject({ code: 5 });
    bench.fake.remove(parent);
    expect(await errorOf(create())).toMatchObject({ code: 5 });
  });

  it("ends what runs when its workflow is deleted", async () => {
    const { name } = await create();
    bench.fake.remove(parent);
    expect(await errorOf(get(name))).toMatchObject({ code: 5 });
  });

  it("queues beyond the quota, and goes on when there is room", async () => {
    bench.fake.limitExecutions(1, 1);
    const [, queued] = [await create(), await create()];
    expect(queued.state).toBe("QUEUED");
    expect(await errorOf(create())).toMatchObject({ code: 8 });
    bench.clock.advance(1_500);
    expect((await get(queued.name)).state).toBe("ACTIVE");
    bench.clock.advance(1_500);
    expect((await get(queued.name)).state).toBe("SUCCEEDED");
  });

  it("tells payload, context and stack trace of a failure", async () => {
    const failing = bench.fake.workflow("fails", { steps: [step("pack", 10, { raise: { message: "no stock" } })] });
    const [{ name }] = await client.createExecution({ parent: failing, execution: {} });
    bench.clock.advance(10);
    expect(await get(name)).toMatchObject({
      state: "FAILED",
      error: {
        payload: '{"message":"no stock"}',
        context: 'in step "pack", routine "main", line: 10',
        stackTrace: { elements: [{ step: "pack", routine: "main", position: { line: "10" } }] },
      },
      status: { currentSteps: [{ routine: "main", step: "pack" }] },
    });
  });

  it("tells what a test wants told: states that no script comes to", async () => {
    const [name = ""] = bench.fake.populate(bench.fake.workflow("forever", runsOn), 1);
    const stateError = { type: "KMS_ERROR", details: "key disabled" };
    bench.fake.override(name, { state: "UNAVAILABLE", stateError });
    expect(await get(name)).toMatchObject({ state: "UNAVAILABLE", stateError });
    bench.fake.override(name, { state: "HIBERNATING" });
    expect(await get(name)).toMatchObject({ state: "STATE_UNSPECIFIED" });
    expect((await bench.rest(name)).body).toMatchObject({ state: "HIBERNATING" });
  });
});

describe("lists on the fake", () => {
  let bench: OpenFake;
  let client: ExecutionsClient;
  let parent: string;
  beforeEach(async () => {
    bench = await openFake();
    client = await localClient(bench.fake.port);
    parent = bench.fake.workflow("orders", runsOn);
  });
  afterEach(async () => {
    await client.close();
    await bench.close();
  });

  const list = async (query: {
    pageSize?: number;
    filter?: string;
    orderBy?: string;
    view?: "BASIC" | "FULL";
    pageToken?: string;
  }) => {
    const [executions, , answer] = await client.listExecutions({ parent, ...query }, { autoPaginate: false });
    return { executions, pageToken: answer?.nextPageToken ?? "" };
  };
  const idOf = (name: string) => name.split("/").at(-1);

  it("shows the newest first, BASIC, 1,000 a page at most, and FULL 100", async () => {
    const names = bench.fake.populate(parent, 1_050, { argument: "{}", labels: { a: "b" } });
    const first = await list({ pageSize: 5_000 });
    expect(first.executions).toHaveLength(1_000);
    expect(first.executions[0]).toMatchObject({ name: names.at(-1), argument: "", labels: {} });
    const second = await list({ pageSize: 5_000, pageToken: first.pageToken });
    expect(second.executions.map(({ name }) => name)).toEqual(names.slice(0, 50).toReversed());
    expect(second.pageToken).toBe("");
    const full = await list({ pageSize: 1_000, view: "FULL" });
    expect(full.executions).toHaveLength(100);
    expect(full.executions[0]).toMatchObject({ argument: "{}", labels: { a: "b" } });
  });

  it("loses nothing between pages when another begins", async () => {
    const names = bench.fake.populate(parent, 4);
    const first = await list({ pageSize: 2 });
    bench.fake.populate(parent, 1);
    const second = await list({ pageSize: 2, pageToken: first.pageToken });
    expect([...first.executions, ...second.executions].map(({ name }) => name)).toEqual(names.toReversed());
    expect(await errorOf(list({ pageSize: 2, pageToken: first.pageToken, view: "FULL" }))).toMatchObject({ code: 3 });
  });

  it("filters by what is documented", async () => {
    const [one = "", other = ""] = bench.fake.populate(parent, 2, { labels: { run: "x", team: "a" } });
    bench.clock.advance(60_000);
    const [third = ""] = bench.fake.populate(parent, 1, { labels: { run: "y" } });
    bench.fake.end(other, { state: "SUCCEEDED", result: "1" });
    const named = async (filter: string) => (await list({ filter })).executions.map(({ name }) => name);
    expect(await named('labels."run":"x"')).toEqual([other, one]);
    expect(await named('labels.run="x" AND state="ACTIVE"')).toEqual([one]);
    expect(await named('state="SUCCEEDED" OR labels.run = y')).toEqual([third, other]);
    expect(await named("NOT labels.team:* ")).toEqual([third]);
    expect(await named("-labels:team")).toEqual([third]);
    expect(await named('createTime>="2026-06-01T00:01:00Z"')).toEqual([third]);
    expect(await named("duration>=60s")).toEqual([other]);
    expect(await named(`executionId="${idOf(one)}"`)).toEqual([one]);
    expect(await named('stepName="work" AND (labels.run="x" state!="SUCCEEDED")')).toEqual([one]);
  });

  it.each([
    "labels.a",
    'nonsense="1"',
    'state="ACTIVE" AND',
    '(state="ACTIVE"',
    'state>"ACTIVE"',
    'argument="{}"',
    'startTime>"soon"',
    "free words",
  ])("refuses the filter %s", async (filter) => {
    expect(await errorOf(list({ filter }))).toMatchObject({ code: 3 });
  });

  it("orders by what is documented", async () => {
    const names = bench.fake.populate(parent, 3);
    expect((await list({ orderBy: "createTime" })).executions.map(({ name }) => name)).toEqual(names);
    expect((await list({ orderBy: "state, createTime desc" })).executions[0]?.name).toBe(names[2]);
    expect(await errorOf(list({ orderBy: "argument" }))).toMatchObject({ code: 3 });
  });

  it("lags behind where it is told to", async () => {
    bench.fake.setLag({ listMs: 5_000 });
    const [name = ""] = bench.fake.populate(parent, 1);
    bench.clock.advance(4_999);
    expect((await list({})).executions).toEqual([]);
    bench.clock.advance(1);
    expect((await list({})).executions).toHaveLength(1);
    bench.fake.end(name, { state: "FAILED", error: { payload: '"no"' } });
    expect((await list({})).executions).toMatchObject([{ state: "ACTIVE" }]);
    bench.clock.advance(5_000);
    expect((await list({})).executions).toMatchObject([{ state: "FAILED" }]);
  });
});
