import { afterEach, describe, expect, test } from "@jest/globals";
import { fakeClock } from "@taskbridge/testkit";
import type { PlainTool } from "../src/index.ts";
import { callForTask, extension } from "./rpc-client.ts";
import { serve, stopAll } from "./serve.ts";

afterEach(stopAll);

const tool = (name: string, more: object = {}) => ({ name, adapter: "fake", target: { run: name }, ...more });
const missing = { requiredCapabilities: { extensions: { [extension]: {} } } };

describe("what the server says of itself", () => {
  test("[A-1] discover names the extension with no settings, and no legacy tasks", async () => {
    const { rpc } = await serve({ instructions: "Be kind." });
    const { result } = await rpc("server/discover");
    expect(result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, resources: {}, extensions: { [extension]: {} } },
      instructions: "Be kind.",
    });
    expect(result.capabilities).not.toHaveProperty("tasks");
  });

  test("[A-1] tools/list is the same each time and says nothing of execution", async () => {
    const input = { type: "object", properties: { url: { type: "string", format: "uri" } }, required: ["url"] };
    const plain: PlainTool = { name: "hello", inputSchema: { type: "object" }, call: () => ({ content: [] }) };
    const { rpc } = await serve({
      tools: [
        tool("b", {
          title: "B",
          description: "b.",
          input,
          annotations: { readOnlyHint: true },
          task: { support: "required" },
        }),
        tool("a"),
      ],
      plainTools: [plain],
    });
    const first = await rpc("tools/list");
    expect(first.result.tools).toEqual([
      { name: "b", title: "B", description: "b.", inputSchema: input, annotations: { readOnlyHint: true } },
      { name: "a", inputSchema: { type: "object" } },
      { name: "hello", inputSchema: { type: "object" } },
    ]);
    const { tools } = (await rpc("tools/list", {}, { tasks: false })).result as { tools: { name: string }[] };
    expect(tools.filter(({ name }) => !name.startsWith("task_"))).toEqual(first.result.tools);
  });
});

describe("tools/call", () => {
  test("[A-3] [A-14] becomes a flat task, whatever params.task says", async () => {
    const { rpc } = await serve();
    const { result } = await rpc("tools/call", { name: "job", arguments: {}, task: { ttl: 1 } });
    expect(result).toEqual({
      resultType: "task",
      taskId: expect.stringMatching(/^[\w-]{22,}$/),
      status: "working",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      ttlMs: null,
      pollIntervalMs: expect.any(Number),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.2.3" } },
    });
  });

  test("[A-2] [A-7] only a request that declares the extension may have a task", async () => {
    const { rpc, backend } = await serve({ tools: [tool("job"), tool("must", { task: { support: "required" } })] });
    const capabilities = { tasks: {}, extensions: {} };
    expect((await rpc("tools/call", { name: "job" }, { tasks: false, capabilities })).result).toMatchObject({
      resultType: "complete",
      content: [{ type: "text" }],
    });
    const refused = await rpc("tools/call", { name: "must" }, { tasks: false });
    expect([refused.status, refused.error.code, refused.error.data]).toEqual([400, -32_021, missing]);
    expect(backend.starts()).toBe(1);
    await callForTask(rpc, "must");
  });

  test("[A-3] a task that starts with a question or has failed at once is working", async () => {
    const { rpc } = await serve({
      tools: [tool("ask"), tool("fail")],
      fake: {
        scripts: {
          ask: (run) => run.ask(),
          fail: (run) => run.fail({ kind: "protocol", reason: "never" }),
        },
      },
    });
    for (const name of ["ask", "fail"]) {
      const { result } = await rpc("tools/call", { name });
      expect(result).toMatchObject({ resultType: "task", status: "working" });
      expect(result).not.toHaveProperty("inputRequests");
      expect(result).not.toHaveProperty("error");
    }
  });

  test("[A-15] a job that is done already answers directly, unless its callers always get a task", async () => {
    const { rpc } = await serve({
      tools: [tool("quick"), tool("must", { task: { support: "required" } })],
      fake: { onStart: (run) => run.succeed({ files: 14 }) },
    });
    expect((await rpc("tools/call", { name: "quick" })).result).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: '{"files":14}' }],
      isError: false,
    });
    expect((await rpc("tools/call", { name: "must" })).result).toMatchObject({ resultType: "task" });
  });

  test("[A-19] the task can be read the moment its handle is out, also while the backend hangs", async () => {
    const clock = fakeClock();
    const { rpc, backend } = await serve({ tools: [tool("job", { task: { ackMs: 20 } })], fake: { clock } });
    backend.faults.next("start", { delayMs: 60_000 });
    const taskId = await callForTask(rpc);
    expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
    expect(backend.starts()).toBe(0);
    // The stop of the server waits for the start.
    await clock.advance(60_000);
  });

  test("a tool that is never a task answers with its result, and stops what nobody could answer", async () => {
    const { rpc, backend } = await serve({
      tools: [tool("plain", { task: { support: "forbidden" } }), tool("ask", { task: { support: "forbidden" } })],
      fake: { scripts: { ask: (run) => run.ask() } },
    });
    const answer = rpc("tools/call", { name: "plain" });
    while (backend.starts() === 0) await new Promise((resolve) => setImmediate(resolve));
    backend.of().succeed("done");
    expect((await answer).result).toMatchObject({ resultType: "complete", content: [{ text: '"done"' }] });
    expect((await rpc("tools/call", { name: "ask" })).result).toMatchObject({ isError: true });
    expect(backend.of().cancels).toHaveLength(1);
  });
});

describe("faults of a call", () => {
  test("[T-1] arguments that do not fit are an answer of the tool that names the field", async () => {
    const input = { type: "object", properties: { url: { type: "string" } }, required: ["url"] };
    const { rpc, backend } = await serve({ tools: [tool("job", { input })] });
    for (const args of [{}, { url: 1 }, undefined]) {
      const { status, result } = await rpc("tools/call", { name: "job", arguments: args });
      expect([status, result.isError]).toEqual([200, true]);
      expect(JSON.stringify(result.content)).toContain("url");
    }
    expect(backend.starts()).toBe(0);
  });

  test("[T-1] a refusal by the backend is an answer of the tool, and leaves no task", async () => {
    const { rpc, backend, server } = await serve();
    backend.faults.next("start", { before: { code: "denied", message: "queue video: not allowed" } });
    expect((await rpc("tools/call", { name: "job" })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("queue video: not allowed") }],
    });
    expect((await server.engine.listTasks({ operator: true }, {}, undefined, 10)).tasks).toEqual([]);
  });

  test("[T-2] an unknown tool is -32602", async () => {
    const { rpc } = await serve();
    for (const name of ["nope", "constructor", "__proto__"]) {
      expect((await rpc("tools/call", { name })).error).toEqual({ code: -32_602, message: `Unknown tool: ${name}` });
    }
    const { error } = await rpc("tools/call", { name: "x".repeat(5_000) });
    expect(error.message).toBe(`Unknown tool: ${"x".repeat(100)}…`);
  });

  test("[T-3] a full owner is told which tasks are open and when to try again", async () => {
    const { rpc } = await serve({ limits: { maxConcurrentTasksPerOwner: 1 } });
    const taskId = await callForTask(rpc);
    const { error } = await rpc("tools/call", { name: "job" });
    expect(error).toMatchObject({
      code: 429,
      message: expect.stringContaining("maxConcurrentTasksPerOwner (1)"),
      data: { retryAfterMs: expect.any(Number), openTaskIds: [taskId] },
    });
  });

  test("[T-4] what goes wrong inside is not told", async () => {
    const errors: object[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (fields: object) => void errors.push(fields),
    };
    const { rpc } = await serve({
      log,
      tools: [
        tool("job", {
          prepare: () => {
            throw new TypeError("cannot read s3cret of /srv/app.ts");
          },
        }),
      ],
    });
    const answer = await rpc("tools/call", { name: "job" });
    expect(answer.error).toEqual({ code: -32_603, message: "Internal error" });
    expect(errors).toHaveLength(1);
  });
});

describe("plain tools", () => {
  test("stand beside the pipelines, with arguments checked and errors told", async () => {
    const greet: PlainTool = {
      name: "greet",
      inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      call: async ({ name }, { owner, reportProgress }) => {
        await reportProgress(1, 2, "half");
        if (name === "nobody") throw new Error("whom?");
        return { content: [{ type: "text", text: `Hello, ${String(name)} of ${owner}!` }] };
      },
    };
    const { rpc } = await serve({ plainTools: [greet] });
    const call = (args: object, meta = {}) => rpc("tools/call", { name: "greet", arguments: args }, { meta });
    const answer = await call({ name: "Ada" }, { progressToken: "p" });
    expect(answer.messages.map(({ method }) => method)).toEqual(["notifications/progress", undefined]);
    expect(answer.result).toMatchObject({ resultType: "complete", content: [{ text: "Hello, Ada of local!" }] });
    expect((await call({})).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("name") }],
    });
    expect((await call({ name: "nobody" })).result).toMatchObject({ isError: true, content: [{ text: "whom?" }] });
  });

  test("a name that is taken is refused", async () => {
    const plainTools: PlainTool[] = [{ name: "job", inputSchema: { type: "object" }, call: () => ({ content: [] }) }];
    await expect(serve({ plainTools })).rejects.toMatchObject({ data: { path: "plainTools[0].name" } });
  });
});
