import type { ExecutionsClient } from "@google-cloud/workflows";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { Fault } from "./faults.ts";
import { errorOf, localClient } from "./local-client.ts";
import { type OpenFake, openFake } from "./open-fake.ts";
import { runsOn } from "./script.ts";

describe("trouble on the fake", () => {
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

  const create = () => client.createExecution({ parent, execution: { labels: { mcp_run: "one" } } }, { retry: null });
  const list = () => client.listExecutions({ parent }, { autoPaginate: false, retry: null });
  const started = () => bench.fake.executions(parent).length;

  it("refuses beyond the quota of a place, and fills it again by the second", async () => {
    const small = await openFake({ quotas: { "Execution API list requests": 3 } });
    const target = small.fake.workflow("orders", runsOn);
    const own = await localClient(small.fake.port);
    const listOne = () => own.listExecutions({ parent: target }, { autoPaginate: false, retry: null });
    for (let count = 0; count < 3; count += 1) await listOne();
    const refused = await errorOf(listOne());
    expect(refused).toMatchObject({ code: 8, message: expect.stringContaining("Execution API list requests") });
    expect(small.fake.journal.count("listExecutions")).toMatchObject({ asked: 4, accepted: 3, throttled: 1 });
    small.clock.advance(20_000);
    expect(small.fake.tokensLeft("listExecutions")).toBe(1);
    expect(small.fake.tokensLeft("getExecution")).toBe(Number.POSITIVE_INFINITY);
    await own.close();
    await small.close();
  });

  it("shares one quota of writes between creates and cancels", async () => {
    expect(bench.fake.tokensLeft("createExecution")).toBe(6_000);
    const [{ name }] = await create();
    await client.cancelExecution({ name: name ?? "" });
    expect(bench.fake.tokensLeft("createExecution")).toBe(5_998);
  });

  it.each<[string, Fault, { code?: number; accepted: boolean }]>([
    ["a lost answer", { kind: "lost" }, { accepted: true }],
    ["a cut connection", { kind: "cut" }, { accepted: false }],
    ["an error before", { kind: "error", code: "UNAVAILABLE" }, { code: 14, accepted: false }],
    ["an error after", { kind: "error-after", code: "INTERNAL" }, { code: 13, accepted: true }],
    ["a page of HTML", { kind: "html", status: 502 }, { accepted: false }],
    ["garbage", { kind: "garbage", body: "<oops" }, { accepted: true }],
  ])("plays %s", async (_, fault, { code, accepted }) => {
    bench.fake.setFaults({ on: { createExecution: fault } });
    const error = await errorOf(create());
    expect(error.message).not.toBe("");
    if (code !== undefined) expect(error.code).toBe(code);
    expect(started()).toBe(accepted ? 1 : 0);
    expect(bench.fake.journal.starts).toMatchObject(
      accepted ? [{ labels: { mcp_run: "one" }, call: { answered: false } }] : [],
    );
    expect(bench.fake.journal.count("createExecution")).toMatchObject({ asked: 1, lost: accepted ? 1 : 0 });
  });

  it.each([true, false])("never answers, and has carried it out: %s", async (isAccepted) => {
    bench.fake.setFaults({ on: { createExecution: { kind: "hang", isAccepted } } });
    const given = new AbortController();
    const init = { method: "POST", body: "{}", signal: given.signal };
    const creating = bench.rest(`${parent}/executions`, init);
    while (bench.fake.journal.calls.length === 0 || started() < Number(isAccepted)) await new Promise(setImmediate);
    given.abort();
    await expect(creating).rejects.toThrow("abort");
    expect(started()).toBe(Number(isAccepted));
    expect(bench.fake.journal.count("createExecution")).toMatchObject({ lost: Number(isAccepted) });
  });

  it("answers late", async () => {
    bench.fake.setFaults({
      on: { "*": ({ method }) => (method === "createExecution" ? { kind: "delay", ms: 60_000 } : undefined) },
    });
    const creating = create();
    while (started() === 0) await new Promise(setImmediate);
    bench.clock.advance(60_000);
    expect((await creating)[0]).toMatchObject({ state: "ACTIVE" });
  });

  it("denies by permission, and names it", async () => {
    bench.fake.setFaults({ denies: ["workflows.executions.create"] });
    expect(await errorOf(create())).toMatchObject({
      code: 7,
      message: expect.stringContaining("Permission 'workflows.executions.create' denied on resource"),
    });
    expect((await list())[0]).toEqual([]);
  });

  it("refuses expired tokens, and wrong ones where it knows the right", async () => {
    bench.fake.setFaults({ tokensExpired: true });
    expect(await errorOf(list())).toMatchObject({ code: 16 });
    const strict = await openFake({ tokens: ["secret"] });
    expect((await strict.rest(strict.fake.workflow("orders", runsOn))).status).toBe(401);
    await strict.close();
  });

  it("keeps requests back while it is frozen", async () => {
    bench.fake.setFaults({ isFrozen: true });
    const creating = create();
    while (bench.fake.journal.calls.length === 0) await new Promise(setImmediate);
    expect(started()).toBe(0);
    bench.fake.setFaults({});
    await creating;
    expect(started()).toBe(1);
  });

  it("hangs up at a mistake in a script, and tells it at the end", async () => {
    const own = await openFake();
    const broken = own.fake.workflow("broken", () => {
      throw new Error("the script is broken");
    });
    const [name = ""] = own.fake.populate(broken, 1);
    await expect(own.rest(name)).rejects.toThrow();
    await expect(own.close()).rejects.toThrow("the script is broken");
  });

  it("is there for more than one project and location", async () => {
    const other = bench.fake.workflow("orders", runsOn, { project: "else", location: "us-central1" });
    const [{ name }] = await client.createExecution({ parent: other, execution: {} });
    expect(name).toMatch(/^projects\/210987654322\/locations\/us-central1\//);
    expect(bench.fake.tokensLeft("createExecution")).toBe(6_000);
  });
});

describe("workflows on the fake", () => {
  it("are listed by project and location, with labels and description, in pages", async () => {
    const { fake, rest, close } = await openFake();
    for (const id of ["one", "two", "three"])
      fake.workflow(id, runsOn, { labels: { team: id }, description: `Does ${id}.` });
    fake.workflow("four", runsOn, { location: "us-central1" });
    fake.workflow("one", runsOn, { state: "UNAVAILABLE" });
    const parent = `projects/${fake.project}/locations/${fake.location}`;
    interface Page {
      readonly workflows: readonly { readonly name: string }[];
      readonly nextPageToken: string;
    }
    const first = (await rest(`${parent}/workflows?pageSize=2`)).body as Page;
    const second = (await rest(`${parent}/workflows?pageSize=2&pageToken=${first.nextPageToken}`)).body as Page;
    expect(first.workflows).toMatchObject([
      { state: "UNAVAILABLE", revisionId: "000002-a4d" },
      { labels: { team: "two" }, description: "Does two.", state: "ACTIVE", revisionId: "000001-a4d" },
    ]);
    expect(second.workflows.map(({ name }) => name)).toEqual([
      `projects/${fake.projectNumber}/locations/europe-west1/workflows/three`,
    ]);
    expect((await rest(`${parent}/workflows/none`)).status).toBe(404);
    await close();
  });
});
