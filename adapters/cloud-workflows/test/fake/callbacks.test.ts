import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type OpenFake, openFake } from "./open-fake.ts";
import { awaitCallback, call, loop, parallel, type Script, step } from "./script.ts";

interface Listed {
  readonly name: string;
  readonly method: string;
  readonly waiters?: string;
  readonly availablePayloads?: readonly string[];
}

describe("callbacks on the fake", () => {
  let bench: OpenFake;
  beforeEach(async () => {
    bench = await openFake();
  });
  afterEach(() => bench.close());

  const start = (script: Script): string => bench.fake.populate(bench.fake.workflow("asks", script), 1)[0] ?? "";
  const list = async (name: string): Promise<readonly Listed[]> =>
    ((await bench.rest(`${name}/callbacks`)).body as { callbacks?: readonly Listed[] }).callbacks ?? [];
  const post = (url: string, body: unknown = { ok: true }, method = "POST") =>
    bench.rest(url, {
      method,
      ...(method === "GET" ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
  const stepsOf = async (name: string) =>
    ((await bench.rest(name)).body as { status: { currentSteps: unknown } }).status.currentSteps;

  it("lists what waits, and goes on with what is sent", async () => {
    const name = start({ steps: [awaitCallback("approve")], end: { succeed: ({ approve = null }) => approve } });
    const [listed] = await list(name);
    expect(listed).toEqual({
      name: expect.stringMatching(`^${name}/callback/[0-9a-f-]{36}$`),
      method: "POST",
      waiters: "1",
    });
    const url = bench.fake.callbackUrl(name, "approve");
    expect(url.replace("/callbacks/", "/callback/")).toBe(`${bench.fake.endpoint}/v1/${listed?.name}`);
    expect((await post(listed?.name ?? "")).status).toBe(404);
    expect(await post(url)).toEqual({ status: 200, body: undefined });
    expect(bench.fake.execution(name)).toMatchObject({ state: "SUCCEEDED", ending: { result: '{"ok":true}' } });
    expect(await list(name)).toEqual([]);
    expect((await post(url)).status).toBe(404);
  });

  it("keeps one payload until it is taken, and refuses a second", async () => {
    const name = start({ steps: [awaitCallback("approve", { acceptsAfterMs: 2_000 }), step("work", 60_000)] });
    const url = bench.fake.callbackUrl(name, "approve");
    await post(url, { n: 1 });
    expect(await list(name)).toMatchObject([{ waiters: "1", availablePayloads: ['{"n":1}'] }]);
    expect(await post(url, { n: 2 })).toMatchObject({ status: 429, body: { error: { status: "RESOURCE_EXHAUSTED" } } });
    bench.clock.advance(2_000);
    expect(await stepsOf(name)).toEqual([{ routine: "main", step: "work" }]);
    const [listed] = await list(name);
    expect([listed?.waiters, listed?.availablePayloads]).toEqual([undefined, undefined]);
  });

  it("wants a token, the right method, and the permission", async () => {
    const name = start({ steps: [awaitCallback("notify", { method: "GET" })] });
    const url = bench.fake.callbackUrl(name, "notify");
    expect((await fetch(url)).status).toBe(401);
    expect((await post(url)).status).toBe(400);
    bench.fake.setFaults({ denies: ["workflows.callbacks.send"] });
    expect((await post(url, {}, "GET")).status).toBe(403);
    bench.fake.setFaults({});
    expect((await post(url, {}, "GET")).status).toBe(200);
  });

  it("gives up after its time, which a workflow may catch", async () => {
    const name = start({ steps: [awaitCallback("approve", { timeoutMs: 5_000 })] });
    const caught = start({ steps: [awaitCallback("approve", { timeoutMs: 5_000, isCaught: true })] });
    bench.clock.advance(5_000);
    expect(bench.fake.execution(name)).toMatchObject({
      state: "FAILED",
      ending: { error: { payload: expect.stringContaining("TimeoutError") } },
    });
    expect(bench.fake.execution(caught).state).toBe("SUCCEEDED");
  });

  it("waits twice for one callback", async () => {
    const again = [1, 2].map((n) => awaitCallback(`wait ${n}`, { callback: "gate" }));
    const name = start({ steps: again, end: { succeed: (outputs) => outputs } });
    const url = bench.fake.callbackUrl(name, "gate");
    await post(url, 1);
    expect(await list(name)).toMatchObject([{ waiters: "1" }]);
    await post(url, 2);
    expect(bench.fake.execution(name)).toMatchObject({ ending: { result: '{"wait 1":1,"wait 2":2}' } });
  });

  it("keeps parallel branches apart", async () => {
    const branches = { left: [awaitCallback("approve")], right: [awaitCallback("budget")] };
    const name = start({ steps: [parallel("both", branches), step("work", 1_000)] });
    expect(await list(name)).toHaveLength(2);
    expect(await stepsOf(name)).toEqual([
      { routine: "main", step: "approve" },
      { routine: "main", step: "budget" },
    ]);
    await post(bench.fake.callbackUrl(name, "budget"));
    expect(await stepsOf(name)).toEqual([{ routine: "main", step: "approve" }]);
    await post(bench.fake.callbackUrl(name, "approve"));
    expect(await stepsOf(name)).toEqual([{ routine: "main", step: "work" }]);
  });

  it("lets other branches go on when one fails, and then fails", async () => {
    const branches = { hasty: [step("stumble", 10, { raise: "too hasty" })], calm: [awaitCallback("approve")] };
    const name = start({ steps: [parallel("both", branches)] });
    bench.clock.advance(1_000);
    expect(await stepsOf(name)).toEqual([{ routine: "main", step: "approve" }]);
    await post(bench.fake.callbackUrl(name, "approve"));
    expect(bench.fake.execution(name)).toMatchObject({
      state: "FAILED",
      ending: { error: { payload: expect.stringMatching(/UnhandledBranchError.*too hasty/) } },
    });
  });

  it("pages 100 at most, by ID", async () => {
    const branches = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`b${n}`, [awaitCallback(`ask ${n}`)]]));
    const name = start({ steps: [parallel("many", branches)] });
    const first = (await bench.rest(`${name}/callbacks?pageSize=500`)).body as {
      callbacks: Listed[];
      nextPageToken: string;
    };
    const second = (await bench.rest(`${name}/callbacks?pageToken=${first.nextPageToken}`)).body as {
      callbacks: Listed[];
    };
    const names = [...first.callbacks, ...second.callbacks].map((one) => one.name);
    expect([first.callbacks.length, second.callbacks.length]).toEqual([100, 20]);
    expect(names).toEqual(names.toSorted());
  });
});

describe("step entries on the fake", () => {
  let bench: OpenFake;
  beforeEach(async () => {
    bench = await openFake();
  });
  afterEach(() => bench.close());

  const script: Script = {
    steps: [
      step("init", 0, { type: "STEP_ASSIGN", variables: { mcp: { message: "Go on?" } } }),
      loop("pages", 3, (index) => [step("scan", 1_000, { output: index })]),
      call("publish", "upload", awaitCallback("approve")),
    ],
  };
  interface Entries {
    readonly stepEntries?: readonly Record<string, unknown>[];
    readonly totalSize?: number;
    readonly nextPageToken?: string;
  }
  const entries = async (name: string, query = ""): Promise<Entries> =>
    (await bench.rest(`${name}/stepEntries${query}`)).body as Entries;

  it("counts iterations, and tells variables only where the history is detailed", async () => {
    const parent = bench.fake.workflow("scan", script);
    const [plain = ""] = bench.fake.populate(parent, 1);
    const [detailed = ""] = bench.fake.populate(parent, 1, { executionHistoryLevel: "EXECUTION_HISTORY_DETAILED" });
    bench.clock.advance(1_500);
    const filter = `?filter=${encodeURIComponent('stepType="STEP_FOR_ITERATION"')}`;
    expect(await entries(plain, filter)).toMatchObject({
      totalSize: 2,
      stepEntries: [
        { entryId: "3", step: "pages", state: "STATE_SUCCEEDED", stepEntryMetadata: { progressNumber: "1" } },
        { entryId: "5", state: "STATE_IN_PROGRESS", navigationInfo: { parent: "2", previous: "3", children: ["6"] } },
      ],
    });
    expect((await entries(plain)).stepEntries?.[0]).not.toHaveProperty("variableData");
    expect((await entries(detailed, filter)).stepEntries?.[1]).toMatchObject({
      stepEntryMetadata: { progressType: "PROGRESS_TYPE_FOR", progressNumber: "2", expectedIteration: "3" },
      variableData: { variables: { mcp: { message: "Go on?" } } },
    });
    bench.clock.advance(1_500);
    expect((await bench.rest(plain)).body).toMatchObject({
      status: { currentSteps: [{ routine: "upload", step: "approve" }] },
    });
  });

  it("pages, skips, orders and shows one", async () => {
    const [name = ""] = bench.fake.populate(bench.fake.workflow("scan", script), 1);
    bench.clock.advance(10_000);
    const first = await entries(name, "?pageSize=4");
    expect(first).toMatchObject({ totalSize: 10 });
    const rest = await entries(name, `?pageSize=4&pageToken=${first.nextPageToken}&skip=1`);
    expect(rest.stepEntries?.map(({ entryId }) => entryId)).toEqual(["6", "7", "8", "9"]);
    expect((await entries(name, "?orderBy=entryId%20desc")).stepEntries?.[0]).toMatchObject({ step: "approve" });
    expect((await bench.rest(`${name}/stepEntries/2`)).body).toMatchObject({ step: "pages", stepType: "STEP_FOR" });
    expect((await bench.rest(`${name}/stepEntries/99`)).status).toBe(404);
  });

  it("has none of a workflow that was deployed before there were any", async () => {
    const [name = ""] = bench.fake.populate(bench.fake.workflow("old", script, { keepsHistory: false }), 1);
    expect(await entries(name)).toEqual({});
  });

  it("tells what a step has raised", async () => {
    const failing = step("scan", 5, { raise: { code: 503 }, isCaught: true });
    const [name = ""] = bench.fake.populate(bench.fake.workflow("retries", { steps: [failing] }), 1);
    bench.clock.advance(5);
    expect(await entries(name)).toMatchObject({
      stepEntries: [{ state: "STATE_FAILED", exception: { payload: '{"code":503}' } }],
    });
    expect(bench.fake.execution(name).state).toBe("SUCCEEDED");
  });
});
