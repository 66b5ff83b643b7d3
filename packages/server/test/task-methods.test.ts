import { afterEach, describe, expect, test } from "@jest/globals";
import { callForTask, extension } from "./rpc-client.ts";
import { eventually, serve, stopAll } from "./serve.ts";

afterEach(stopAll);

const missing = { requiredCapabilities: { extensions: { [extension]: {} } } };
const form = { capabilities: { elicitation: {} } };
const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

describe("[A-5] tasks/get", () => {
  test("inlines what the status brings along", async () => {
    const { rpc, backend } = await serve();
    const taskId = await callForTask(rpc);
    const get = async () => (await rpc("tasks/get", { taskId }, form)).result;
    backend.of().progress({ done: 3, total: 10 });
    await backend.events.settled();
    expect(await get()).toMatchObject({
      resultType: "complete",
      status: "working",
      statusMessage: "3 of 10",
      ttlMs: null,
    });
    backend.of().ask({ message: "Sure?", schema: yes });
    await backend.events.settled();
    const asked = await get();
    expect(asked.status).toBe("input_required");
    expect(Object.values(asked.inputRequests as object)).toEqual([
      { method: "elicitation/create", params: { mode: "form", message: "Sure?", requestedSchema: yes } },
    ]);
    backend.of().withdraw();
    backend.of().succeed({ files: 14 });
    await backend.events.settled();
    const completed = await get();
    expect(completed).toMatchObject({
      status: "completed",
      ttlMs: expect.any(Number),
      result: { resultType: "complete", content: [{ type: "text", text: '{"files":14}' }], isError: false },
    });
    expect(JSON.stringify(completed)).not.toMatch(/related-task|requestState|fake-secret/);
  });

  test("[A-6] tells a failed job from a failed call", async () => {
    const { rpc, backend } = await serve();
    const [job, call] = [await callForTask(rpc), await callForTask(rpc)];
    backend.executions[0]?.fail("exit code 2");
    backend.executions[1]?.fail({ kind: "protocol", reason: "lost", code: "lost" });
    await backend.events.settled();
    const ofJob = (await rpc("tasks/get", { taskId: job })).result;
    expect(ofJob).toMatchObject({ status: "completed", result: { isError: true, content: [{ text: "exit code 2" }] } });
    const ofCall = (await rpc("tasks/get", { taskId: call })).result;
    expect(ofCall).toMatchObject({
      status: "failed",
      error: { code: -32_603, message: "lost", data: { reason: "lost" } },
    });
    expect(ofCall).not.toHaveProperty("result");
  });

  test("[A-21] says how long a task can live where that is known", async () => {
    const tools = [
      { name: "job", adapter: "fake", target: { run: "job" }, task: { maxRunMs: 60_000, retentionMs: 1_000 } },
    ];
    const { rpc, backend } = await serve({ tools });
    const taskId = await callForTask(rpc);
    expect((await rpc("tasks/get", { taskId })).result.ttlMs).toBe(61_000);
    backend.of().succeed(1);
    await backend.events.settled();
    const { ttlMs } = (await rpc("tasks/get", { taskId })).result;
    expect(ttlMs).toBeGreaterThanOrEqual(1_000);
    expect(ttlMs).toBeLessThan(61_000);
  });

  test("case 14: each task advertises the interval of its tool", async () => {
    const tools = [100, 5_000].map((pollIntervalMs) => ({
      name: `every-${pollIntervalMs}`,
      adapter: "fake",
      target: { run: "job" },
      task: { pollIntervalMs },
    }));
    const { rpc } = await serve({ tools, fake: { traits: { minInspectIntervalMs: 1_000 } } });
    const intervals = [];
    for (const { name } of tools) {
      const taskId = await callForTask(rpc, name);
      intervals.push((await rpc("tasks/get", { taskId })).result.pollIntervalMs);
    }
    expect(intervals[0]).toBeGreaterThanOrEqual(1_000);
    expect(intervals[1]).toBeGreaterThanOrEqual(5_000);
  });
});

describe("[A-9] tasks/update", () => {
  const ask = async () => {
    const served = await serve();
    const taskId = await callForTask(served.rpc);
    served.backend.of().ask({ name: "first", schema: yes });
    served.backend.of().ask({ name: "second", schema: { type: "object", properties: { deep: { type: "object" } } } });
    await served.backend.events.settled();
    const { inputRequests } = (await served.rpc("tasks/get", { taskId }, form)).result;
    const [first = "", second = ""] = Object.keys(inputRequests as object);
    const update = (inputResponses: unknown) => served.rpc("tasks/update", { taskId, inputResponses }, form);
    const open = async () =>
      Object.keys(((await served.rpc("tasks/get", { taskId }, form)).result.inputRequests as object) ?? {});
    return { ...served, taskId, first, second, update, open };
  };

  test("takes some answers, and is applied before it is acknowledged", async () => {
    const { backend, first, second, update, open } = await ask();
    expect(await open()).toEqual([first, second]);
    const answer = await update({ [first]: { action: "accept", content: { ok: true } } });
    expect(answer.result).toEqual({ resultType: "complete", _meta: expect.anything() });
    expect(await open()).toEqual([second]);
    await update({ [second]: { action: "accept", content: { json: '{"deep":{"a":1}}' } } });
    await eventually(() => backend.of().answers.length === 2);
    expect(backend.of().answers).toMatchObject([
      { questionId: "first#1", action: "accept", content: { ok: true }, deliveries: 1 },
      { questionId: "second#1", action: "accept", content: { deep: { a: 1 } }, deliveries: 1 },
    ]);
  });

  test("ignores keys that are not open, and answers that come twice", async () => {
    const { backend, first, update } = await ask();
    expect((await update({ unknown: { ignored: true }, nothing: 1 })).result).toMatchObject({ resultType: "complete" });
    for (let times = 0; times < 2; times++) {
      const { result } = await update({ [first]: { action: "accept", content: { ok: true } } });
      expect(result).toMatchObject({ resultType: "complete" });
    }
    await eventually(() => backend.of().answers.length === 1);
    expect(backend.of().answers).toMatchObject([{ questionId: "first#1" }]);
  });

  test("declines and dismisses", async () => {
    const { backend, first, second, update, open } = await ask();
    await update({ [first]: { action: "decline" }, [second]: { action: "cancel" } });
    await eventually(() => backend.of().answers.length === 1);
    expect(backend.of().answers).toMatchObject([{ questionId: "first#1", action: "decline" }]);
    const again = await open();
    expect(again).toHaveLength(1);
    expect(again).not.toContain(second);
  });

  test.each<[unknown, string]>([
    [{ action: "accept", content: { ok: "yes" } }, "content"],
    [{ action: "accept", content: {} }, "content"],
    [{ action: "accept" }, "content"],
    [{ action: "perhaps" }, "action"],
    [{}, "action"],
    [12345, ""],
    ["yes", ""],
    [null, ""],
  ])("refuses %j by the name of its field, and keeps the key open", async (response, field) => {
    const { backend, first, second, update, open } = await ask();
    const { error } = await update({ [first]: response, [second]: { action: "decline" } });
    expect(error.code).toBe(-32_602);
    expect(error.message).toContain(field === "" ? `inputResponses.${first}` : `inputResponses.${first}.${field}`);
    expect(await open()).toEqual([first, second]);
    expect(backend.of().answers).toEqual([]);
  });

  test("refuses a request without inputResponses", async () => {
    const { update } = await ask();
    expect((await update(undefined)).error.code).toBe(-32_602);
  });

  test.each([null, "text", 1])("inputResponses that are %j change nothing", async (inputResponses) => {
    const { update, open, first, second } = await ask();
    // The SDK hands these on as if they were empty.
    await update(inputResponses);
    expect(await open()).toEqual([first, second]);
  });
});

describe("[A-10] tasks/cancel", () => {
  test("acknowledges, and the task ends as the backend ends", async () => {
    const { rpc, backend } = await serve({ fake: { traits: { cancel: "requested" } } });
    const taskId = await callForTask(rpc);
    for (let times = 0; times < 2; times++) {
      expect((await rpc("tasks/cancel", { taskId })).result).toEqual({
        resultType: "complete",
        _meta: expect.anything(),
      });
    }
    await eventually(() => backend.of().cancels.length > 0);
    expect(backend.of().cancels).toHaveLength(1);
    expect((await rpc("tasks/get", { taskId })).result.status).toBe("working");
    backend.of().succeed("in time");
    await backend.events.settled();
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
  });

  test("of an ended task, and an update of one, are acknowledged", async () => {
    const { rpc, backend } = await serve();
    const taskId = await callForTask(rpc);
    backend.of().succeed(1);
    await backend.events.settled();
    expect((await rpc("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
    const update = await rpc("tasks/update", { taskId, inputResponses: { q1: { action: "accept" } } });
    expect(update.result).toMatchObject({ resultType: "complete" });
    expect((await rpc("tasks/get", { taskId })).result.status).toBe("completed");
    expect(backend.of().cancels).toEqual([]);
  });
});

describe("what is refused", () => {
  test("[A-7] without the extension: -32021 and 400, before anything is looked at", async () => {
    const { rpc } = await serve();
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      for (const params of [{ taskId: "gate", inputResponses: {} }, {}]) {
        const { status, error } = await rpc(method, params, { tasks: false, headers: { "mcp-name": "gate" } });
        if (params.taskId === undefined && error.code === -32_020) continue;
        expect([status, error.code, error.data]).toEqual([400, -32_021, missing]);
      }
    }
  });

  test("[A-11] tasks/result and tasks/list do not exist: -32601 and 404", async () => {
    const { rpc } = await serve();
    for (const method of ["tasks/result", "tasks/list", "tasks/delete"]) {
      const { status, error } = await rpc(method, { taskId: "x" });
      expect([status, error.code]).toEqual([404, -32_601]);
    }
  });

  test("[A-12] headers that differ from the body: -32020 and 400", async () => {
    const { rpc } = await serve();
    const taskId = await callForTask(rpc);
    for (const headers of [
      { "mcp-name": "another" },
      { "mcp-name": undefined },
      { "mcp-method": "tasks/cancel" },
      { "mcp-method": undefined },
      { "mcp-protocol-version": "2025-11-25" },
    ]) {
      const { status, error } = await rpc("tasks/get", { taskId }, { headers });
      expect([status, error.code]).toEqual([400, -32_020]);
    }
  });

  test("[A-13] a parameter that must be in a header is compared with it", async () => {
    const input = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const { rpc, backend } = await serve({ tools: [{ name: "job", adapter: "fake", target: { run: "job" }, input }] });
    const call = (region: string | undefined) =>
      rpc("tools/call", { name: "job", arguments: { region: "eu" } }, { headers: { "mcp-param-region": region } });
    for (const region of [undefined, "us"]) {
      const { status, error } = await call(region);
      expect([status, error.code]).toEqual([400, -32_020]);
    }
    expect(backend.starts()).toBe(0);
    expect((await call("eu")).result).toMatchObject({ resultType: "task" });
  });

  test("[A-4] an ID that nobody could have is answered like an unknown one; one that is no text is invalid", async () => {
    const { rpc } = await serve();
    const unknown = ["nope", "", "a b", "ü", "x".repeat(10_000), "../etc/passwd", "__proto__", "' OR 1=1 --"];
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      for (const taskId of unknown) {
        const name = /^[\x21-\x7e]+$/.test(taskId) ? taskId : `=?base64?${Buffer.from(taskId).toString("base64")}?=`;
        const { error } = await rpc(method, { taskId, inputResponses: {} }, { headers: { "mcp-name": name } });
        expect([taskId, error]).toEqual([taskId, { code: -32_602, message: "Task not found" }]);
      }
      for (const taskId of [1, null, ["t"], { t: 1 }, true]) {
        const { error } = await rpc(
          method,
          { taskId, inputResponses: {} },
          { headers: { "mcp-name": String(taskId) } },
        );
        expect([-32_602, -32_020]).toContain(error.code);
      }
    }
  });

  test("[A-4] an expired task says so", async () => {
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { retentionMs: 1 } }];
    const { rpc, backend } = await serve({ tools });
    const taskId = await callForTask(rpc);
    backend.of().succeed(1);
    await backend.events.settled();
    await eventually(async () => (await rpc("tasks/get", { taskId })).error.code === -32_602);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { error } = await rpc(method, { taskId, inputResponses: {} });
      expect(error.code).toBe(-32_602);
      expect(error.message).toMatch(/Task has expired|Task not found/);
    }
  });
});
