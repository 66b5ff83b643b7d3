import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type GcwServer, startGcw } from "../../src/gcw/server.ts";
import { type GcwApi, gcwApi } from "./gcw-api.ts";
import { asks, calls, dawdles, fails, parts, reports, sleeps } from "./gcw-workflows.ts";

describe("a Google Cloud Workflows of one's own", () => {
  let server: GcwServer;
  let api: GcwApi;
  beforeAll(async () => {
    server = await startGcw();
    api = gcwApi(server.url);
    const all = { asks, fails, dawdles, sleeps, parts, calls, reports };
    for (const [name, source] of Object.entries(all))
      expect((await api.deploy(name, source, { labels: { team: "red" } })).status).toBe(200);
  }, 60_000);
  afterAll(() => server.close());

  it("runs branches, each of which awaits its own callback", async () => {
    const name = await api.start("asks", { large: 1 });
    const [one, other] = await api.waiting(name, 2);
    const stepsOf = async (): Promise<readonly unknown[]> => {
      const { currentSteps } = (await api.get(name)).status as { currentSteps: { step: string }[] };
      return currentSteps.map(({ step }) => step).sort();
    };
    expect(await stepsOf()).toEqual(["approve_left", "approve_right"]);
    expect((await api.deliver(one?.name, { answer: "yes" })).status).toBe(200);
    await api.waiting(name, 1);
    expect(await stepsOf()).toEqual([expect.stringMatching(/^(approve|keep)_/)]);
    expect((await api.deliver(other?.name, { answer: "yes" })).status).toBe(200);
    const { state, result } = await api.ended(name);
    expect([state, JSON.parse(String(result))]).toEqual(["SUCCEEDED", { large: 1, left: "yes", right: "yes" }]);
    expect((await api.deliver(one?.name, {})).status).toBe(404);
  });

  it("takes a callback by its method and with a token only, and one at a time", async () => {
    const name = await api.start("dawdles");
    await api.until(name, ({ status }) => JSON.stringify(status ?? "").includes("nap"));
    const path = `${name.slice(name.indexOf("workflows/"))}/callbacks`;
    const [endpoint] = (await api.call("GET", path)).body.callbacks as { name: string }[];
    expect(endpoint).toEqual({ name: expect.stringContaining(`${name}/callback/`), method: "POST" });
    expect(await api.deliver(endpoint?.name, 1, { token: null })).toMatchObject({
      status: 401,
      body: { error: { status: "UNAUTHENTICATED" } },
    });
    expect((await api.deliver(endpoint?.name, 1, { method: "GET" })).status).toBe(405);
    expect((await api.deliver(`${endpoint?.name}0`, 1)).status).toBe(404);
    expect((await api.deliver(endpoint?.name, { first: true })).status).toBe(200);
    expect((await api.call("GET", path)).body.callbacks).toEqual([
      { ...endpoint, availablePayloads: ['{"first":true}'] },
    ]);
    expect(await api.deliver(endpoint?.name, { second: true })).toMatchObject({
      status: 429,
      body: { error: { status: "RESOURCE_EXHAUSTED" } },
    });
    const { result } = await api.ended(name);
    expect(JSON.parse(String(result))).toMatchObject({
      type: "HTTP",
      received_time: expect.any(String),
      http_request: {
        method: "POST",
        body: { first: true },
        query: {},
        url: expect.stringMatching(/^\/v1\/.*[0-9a-f]$/),
      },
    });
  });

  it("tells of a failure what was raised, and where", async () => {
    const { state, error } = await api.ended(await api.start("fails"));
    const { payload, context, stackTrace } = error as Record<string, unknown>;
    expect([state, JSON.parse(String(payload))]).toEqual([
      "FAILED",
      { code: 17, message: "none left", stock: { shelf: 3 } },
    ]);
    expect(context).toContain('in step "again", routine "main"');
    expect(stackTrace).toEqual({ elements: [{ routine: "main", step: "again" }] });
  });

  it("lets other branches go on when one fails, and tells where they are", async () => {
    const name = await api.start("parts");
    const [endpoint] = await api.waiting(name, 1);
    const { state, status } = await api.until(name, ({ status }) => !JSON.stringify(status).includes("stumble"));
    expect([state, status]).toEqual(["ACTIVE", { currentSteps: [{ routine: "wait_for", step: "wait" }] }]);
    await api.deliver(endpoint?.name, {});
    const { error } = await api.ended(name);
    expect(JSON.parse(String((error as { payload: string }).payload))).toMatchObject({
      message: expect.stringContaining("too hasty"),
      tags: ["UnhandledBranchError"],
    });
  });

  it("makes requests", async () => {
    const url = `${server.url}/v1/projects/demo/locations/here/workflows`;
    const { result } = await api.ended(await api.start("calls", { url: `${url}/reports` }));
    expect(JSON.parse(String(result))).toMatchObject({ state: "ACTIVE", name: expect.stringMatching(/reports$/) });
    const { error } = await api.ended(await api.start("calls", { url: `${url}/none` }));
    expect(JSON.parse(String((error as { payload: string }).payload))).toMatchObject({
      code: 404,
      tags: ["HttpError"],
    });
  });

  it("stops an execution, once", async () => {
    const name = await api.start("sleeps");
    const cancel = () => api.call("POST", `${name.slice(name.indexOf("workflows/"))}:cancel`, {});
    expect((await cancel()).body).toMatchObject({ name, state: "CANCELLED", endTime: expect.any(String) });
    expect(await cancel()).toMatchObject({ status: 400, body: { error: { status: "FAILED_PRECONDITION" } } });
  });

  it("shows an execution as a whole or only its outline", async () => {
    const name = await api.start("reports", { id: 9 }, { mcp_run: "mcp-1" });
    const whole = await api.ended(name);
    const outline = {
      name: expect.stringMatching(
        /^projects\/demo\/locations\/here\/workflows\/reports\/executions\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
      ),
      state: "SUCCEEDED",
      startTime: expect.stringMatching(/^20\d\d-.*Z$/),
      endTime: expect.stringMatching(/^20\d\d-.*Z$/),
      duration: expect.stringMatching(/^0\.\d{9}s$/),
      workflowRevisionId: expect.stringMatching(/^\d{6}-[\da-f]{3}$/),
    };
    expect(whole).toEqual({
      ...outline,
      createTime: expect.any(String),
      argument: '{"id":9}',
      labels: { team: "red", mcp_run: "mcp-1" },
      result: expect.any(String),
      status: { currentSteps: [{ routine: "main", step: "done" }] },
    });
    const reported = { id: name.split("/").at(-1), where: "here", input: { id: 9 } };
    expect(JSON.parse(String(whole.result))).toEqual(reported);
    const path = name.slice(name.indexOf("workflows/"));
    expect((await api.call("GET", `${path}?view=BASIC`)).body).toEqual(outline);
    const listed = await api.call(
      "GET",
      `workflows/reports/executions?filter=${encodeURIComponent('labels.mcp_run="mcp-1"')}`,
    );
    expect(listed.body).toEqual({ executions: [outline] });
  });

  it("does not change integers that a float would", async () => {
    const { body } = await api.call("POST", "workflows/reports/executions", { argument: '{"n":9007199254740993}' });
    expect((await api.ended(String(body.name))).result).toContain('"n":9007199254740993');
  });

  describe("lists executions", () => {
    const names: string[] = [];
    const list = (query: Readonly<Record<string, string>>) =>
      api.call("GET", `workflows/counted/executions?${new URLSearchParams(query)}`);
    const namesOf = (body: Readonly<Record<string, unknown>>) =>
      ((body.executions ?? []) as { name: string }[]).map(({ name }) => name);
    beforeAll(async () => {
      await api.deploy("counted", sleeps);
      for (const color of ["red", "blue", "red", "green", "blue"])
        names.unshift(await api.start("counted", undefined, { color }));
    });

    it("page by page, newest first", async () => {
      const first = await list({ pageSize: "2" });
      const second = await list({ pageSize: "3", pageToken: String(first.body.nextPageToken) });
      expect([namesOf(first.body), namesOf(second.body)]).toEqual([names.slice(0, 2), names.slice(2)]);
      expect(second.body.nextPageToken).toBeUndefined();
      expect((await list({ pageToken: String(first.body.nextPageToken), view: "FULL" })).status).toBe(400);
    });

    it.each([
      ['labels.color="red"', [2, 4]],
      ['labels."color":"red"', [2, 4]],
      ["labels.color=red", [2, 4]],
      ['labels.color="red" OR labels.color="green" AND state="ACTIVE"', [1, 2, 4]],
      ['(labels.color="red" AND state="ACTIVE") OR labels.color="green"', [1, 2, 4]],
      ['state="SUCCEEDED" AND labels.color="red" OR labels.color="green"', []],
      ['state="SUCCEEDED" OR state="QUEUED"', []],
      ['labels.color!="red" AND createTime>"2020-01-01"', [0, 1, 3]],
      ['labels.other="red"', []],
      ['createTime>="2100-01-01T00:00:00Z"', []],
    ])("that match %s", async (filter, indexes) => {
      expect(namesOf((await list({ filter })).body)).toEqual(indexes.map((index) => names[index]));
    });

    it.each([
      "color=red",
      "labels.color",
      'state>"ACTIVE"',
      "labels.color=red AND",
      '(state="ACTIVE"',
      'createTime>"noon"',
    ])("and refuses the filter %s", async (filter) => {
      expect(await list({ filter })).toMatchObject({ status: 400, body: { error: { status: "INVALID_ARGUMENT" } } });
    });
  });

  it.each([
    ["a workflow that is not there", "none", {}, 404],
    ["an argument that is no JSON", "reports", { argument: "{" }, 400],
    ["an argument that is too large", "reports", { argument: JSON.stringify("x".repeat(32_768)) }, 400],
    ["a label in capitals", "reports", { labels: { Run: "x" } }, 400],
    ["a field that it does not know", "reports", { requestId: "x" }, 400],
  ])("refuses to start %s", async (_, workflow, body, status) => {
    expect((await api.call("POST", `workflows/${workflow}/executions`, body)).status).toBe(status);
  });

  it("keeps workflows until they are deleted, with their executions", async () => {
    const made = await api.deploy("kept", sleeps, { description: "Sleeps.", labels: { a: "b" } });
    expect(made.body).toMatchObject({ done: true, response: { state: "ACTIVE", description: "Sleeps." } });
    expect((await api.deploy("kept", sleeps)).status).toBe(409);
    expect((await api.deploy("broken", "main: 1")).status).toBe(400);
    const one = await api.call("GET", "workflows/kept");
    expect(one.body).toMatchObject({ name: "projects/demo/locations/here/workflows/kept", labels: { a: "b" } });
    const firstPage = await api.call("GET", "workflows?pageSize=1");
    const nextPage = await api.call("GET", `workflows?pageToken=${firstPage.body.nextPageToken}`);
    const all = [firstPage, nextPage].flatMap(({ body }) => body.workflows as { name: string }[]);
    expect(all.map(({ name }) => name)).toContain(one.body.name);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    const name = await api.start("kept");
    expect((await api.call("DELETE", "workflows/kept")).body).toMatchObject({ done: true });
    expect((await api.call("GET", "workflows/kept")).status).toBe(404);
    expect((await api.call("GET", name.slice(name.indexOf("workflows/")))).status).toBe(404);
  });

  it("is gone once it is closed", async () => {
    const other = await startGcw();
    await other.close();
    await other.close();
    await expect(fetch(other.url)).rejects.toThrow("fetch failed");
  }, 60_000);

  it("ends with the process that started it, even when that is killed", async () => {
    const script = `import { startGcw } from "@taskbridge/services/gcw"; console.log((await startGcw()).url); setInterval(() => {}, 1000)`;
    const starter = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: new URL("../..", import.meta.url),
    });
    const [url] = await once(starter.stdout, "data");
    starter.kill("SIGKILL");
    await once(starter, "close");
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
      const isGone = await fetch(String(url).trim()).then(
        (answer) => answer.arrayBuffer().then(() => false),
        () => true,
      );
      if (isGone) return;
    }
    throw new Error("the server is still there");
  }, 60_000);
});
