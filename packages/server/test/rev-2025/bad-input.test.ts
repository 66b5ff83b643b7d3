import { afterEach, describe, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import { type ServeOptions, serve, stopAll } from "../serve.ts";
import { callForTask } from "./task-calls.ts";

afterEach(stopAll);

const job = { name: "job", adapter: "fake", target: { run: "job" } };
const input = {
  type: "object",
  properties: { count: { type: "integer", minimum: 1 } },
  required: ["count"],
  additionalProperties: false,
};
const setUp = async (options?: ServeOptions) => {
  const served = await serve(options);
  const session = await rpc2025(served.url);
  const call = (params: object) => session.request("tools/call", { name: "job", arguments: {}, ...params });
  const records = async () =>
    (await served.server.engine.listTasks({ operator: true }, {}, undefined, 100)).tasks.length;
  return { ...served, session, call, records };
};

describe("[B-3] a call with what is no task", () => {
  test.each<[string, unknown, string]>([
    ["null", null, "task: "],
    ["text", "yes", "task: "],
    ["a list", [], "task: "],
    ["a number", 60_000, "task: "],
    ["true", true, "task: "],
    ["a negative ttl", { ttl: -1 }, "task.ttl: "],
    ["a ttl of text", { ttl: "60000" }, "task.ttl: "],
    ["a ttl that is a list", { ttl: [1] }, "task.ttl: "],
    ["a ttl that is true", { ttl: true }, "task.ttl: "],
  ])("%s is refused by the name of the field, and starts nothing", async (_name, task, field) => {
    const { call, backend, records } = await setUp();
    const { status, error } = await call({ task });
    expect([status, error.code]).toEqual([200, -32_602]);
    expect(error.message.startsWith(field)).toBe(true);
    expect([backend.starts(), await records()]).toEqual([0, 0]);
  });

  test("a ttl that JSON cannot hold: -32602, or no JSON at all", async () => {
    const { session, url, backend } = await setUp();
    const send = async (ttl: string) => {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": session.sessionId,
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"job","task":{"ttl":${ttl}}}}`,
      });
      return [response.status, await response.text()] as const;
    };
    for (const ttl of ["NaN", "Infinity"]) {
      expect(await send(ttl)).toEqual([400, expect.stringContaining("-32700")]);
    }
    expect(await send("1e999")).toEqual([200, expect.stringContaining("-32602")]);
    expect(backend.starts()).toBe(0);
  });

  test("the marks of two generations are refused, whatever they say", async () => {
    const { call, backend } = await setUp();
    for (const task of [{}, { ttl: 1 }, null]) {
      const { error } = await call({ task, _meta: { "modelcontextprotocol.io/task": { taskId: "mine" } } });
      expect(error).toMatchObject({ code: -32_602, data: { path: "task" } });
    }
    expect(backend.starts()).toBe(0);
  });
});

describe("[B-2] a tool called in a way that it does not allow", () => {
  const tools = [
    { ...job, name: "must", task: { support: "required" as const } },
    { ...job, name: "never", task: { support: "forbidden" as const } },
  ];
  const plain = { name: "plain", inputSchema: {}, call: () => ({ content: [{ type: "text" as const, text: "ok" }] }) };

  test("is -32601 with what to do instead, and starts nothing", async () => {
    const { call, backend, records } = await setUp({ tools, plainTools: [plain] });
    const must = (await call({ name: "must" })).error;
    expect(must).toEqual({ code: -32_601, message: expect.stringContaining('with "task": {}') });
    for (const name of ["never", "plain"]) {
      const { error } = await call({ name, task: {} });
      expect(error).toEqual({ code: -32_601, message: expect.stringContaining('without "task"') });
    }
    expect([backend.starts(), await records()]).toEqual([0, 0]);
    expect((await call({ name: "must", task: {} })).result).toMatchObject({ task: { status: "working" } });
    expect((await call({ name: "plain" })).result).toMatchObject({ content: [{ text: "ok" }] });
  });

  test("[B-22] is served as before in a session of an earlier revision, which knows no tasks", async () => {
    const { url, backend } = await setUp({ tools: [...tools, job], plainTools: [plain] });
    for (const revision of ["2025-06-18", "2025-03-26", "2024-11-05"]) {
      const older = await rpc2025(url, { revision });
      expect(older.initialized.protocolVersion).toBe(revision);
      for (const task of [{}, { ttl: "nonsense" }, "nonsense", null]) {
        const { result } = await older.request("tools/call", { name: "plain", task });
        expect(result).toMatchObject({ content: [{ text: "ok" }] });
      }
      const { result } = await older.request("tools/call", { name: "job", arguments: {}, task: {} });
      expect(result).not.toHaveProperty("task");
      const { taskId } = result.structuredContent as { taskId: string };
      expect(taskId).toEqual(expect.any(String));
      for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"]) {
        expect((await older.request(method, { taskId })).error).toMatchObject({ code: -32_601 });
      }
      expect(backend.of().cancels).toEqual([]);
    }
  });
});

describe("a call that cannot be carried out", () => {
  test("[B-23] for its arguments is an error that names them, and no task", async () => {
    const { call, backend, records } = await setUp({ tools: [{ ...job, input }] });
    for (const [args, named] of [
      [{}, "count"],
      [{ count: "3" }, "count"],
      [{ count: 0 }, "count"],
      [{ count: 1, extra: 1 }, "extra"],
      ["text", "arguments"],
      [[], "arguments"],
    ] as const) {
      const { error, result } = await call({ arguments: args, task: {} });
      expect([args, error.code, result]).toEqual([args, -32_602, {}]);
      expect(error.message).toContain(named);
    }
    expect([backend.starts(), await records()]).toEqual([0, 0]);
  });

  test("of an unknown tool, or of none", async () => {
    const { call, backend } = await setUp();
    for (const task of [undefined, {}]) {
      for (const name of ["nope", "", "__proto__", "constructor"]) {
        expect((await call({ name, task })).error).toEqual({ code: -32_602, message: `Unknown tool: ${name}` });
      }
      const long = (await call({ name: "x".repeat(100_000), task })).error;
      expect(long).toEqual({ code: -32_602, message: `Unknown tool: ${"x".repeat(100)}…` });
      for (const name of [undefined, null, 1, ["job"], { name: "job" }]) {
        expect((await call({ name, task })).error).toMatchObject({ code: -32_602, data: { path: "name" } });
      }
    }
    expect(backend.starts()).toBe(0);
  });

  test("[B-23] whose start the backend refuses is an error, and no task", async () => {
    const { call, session, backend } = await setUp();
    backend.faults.next("start", { before: { code: "invalid_input", message: "branch: no such branch" } });
    expect((await call({ task: {} })).error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("no such branch"),
    });
    backend.faults.next("start", { before: { code: "denied", notSent: true } });
    expect((await call({ task: {} })).error.code).toBe(-32_603);
    expect((await session.request("tasks/list")).result.tasks).toEqual([]);
    expect(backend.starts()).toBe(0);
    await callForTask(session);
  });

  test("beyond a limit is an error that names the tasks that are open", async () => {
    const { call, session } = await setUp({ limits: { maxConcurrentTasksPerOwner: 2 } });
    const open = [await callForTask(session), await callForTask(session)];
    const { error } = await call({ task: {} });
    expect(error).toMatchObject({ code: 429, data: { reason: "limit_exceeded" } });
    const { openTaskIds } = error.data as { openTaskIds: string[] };
    expect(openTaskIds.sort()).toEqual(open.sort());
  });

  test("with arguments that are too large", async () => {
    const { call, records } = await setUp({ limits: { maxInputBytes: 1_000 } });
    expect((await call({ arguments: { pad: "x".repeat(2_000) }, task: {} })).error.code).toBe(-32_602);
    expect(await records()).toBe(0);
  });
});

describe("[B-10] a taskId that names no task", () => {
  const methods = ["tasks/get", "tasks/result", "tasks/cancel"];

  test("but could is unknown, in the same words whatever it is", async () => {
    const { session } = await setUp();
    const known = await callForTask(session);
    const unknown = ["nope", "", " ", "a b", "ü", "\u0000", "a\nb", "../etc/passwd", "__proto__", "' OR 1=1 --"];
    for (const method of methods) {
      for (const taskId of [...unknown, "x".repeat(10_240), `${known} `, known.slice(1), known.toUpperCase()]) {
        if (taskId === known) continue;
        const { error } = await session.request(method, { taskId });
        expect([method, taskId, error]).toEqual([method, taskId, { code: -32_602, message: "Task not found" }]);
      }
    }
  });

  test("is -32602 when it is missing or no text", async () => {
    const { session } = await setUp();
    for (const method of methods) {
      for (const params of [{}, { taskId: 1 }, { taskId: null }, { taskId: ["t"] }, { taskId: { t: 1 } }]) {
        const { error } = await session.request(method, params);
        expect([error.code, error.message, error.data]).toEqual([
          -32_602,
          "taskId: text is needed",
          { path: "taskId" },
        ]);
      }
    }
  });

  test("methods that this generation does not have are unknown", async () => {
    const { session } = await setUp();
    const taskId = await callForTask(session);
    for (const method of ["tasks/update", "tasks/delete", "tasks/", "tasks/constructor", "subscriptions/listen"]) {
      expect((await session.request(method, { taskId })).error).toEqual({ code: -32_601, message: "Method not found" });
    }
  });
});
