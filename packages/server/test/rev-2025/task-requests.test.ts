import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { callForTask, relatedTo } from "./task-calls.ts";

afterEach(stopAll);

const job = { name: "job", adapter: "fake", target: { run: "job" } };
const setUp = async (options?: ServeOptions) => {
  const served = await serve(options);
  return { ...served, session: await rpc2025(served.url) };
};

describe("what a session is told first", () => {
  const plain = { name: "plain", inputSchema: {}, call: () => ({ content: [] }) };
  const tools = [
    job,
    { ...job, name: "must", task: { support: "required" as const } },
    { ...job, name: "never", task: { support: "forbidden" as const } },
  ];

  test("[B-1] the methods for tasks, without a list where callers are not told apart", async () => {
    const { session } = await setUp();
    expect(session.initialized).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "test" } });
    const { tasks, extensions } = session.initialized.capabilities as Record<string, unknown>;
    expect(tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    expect(extensions).toBeUndefined();
    const anonymous = await setUp({ listen: { host: "0.0.0.0", unsafePublic: true } });
    expect(anonymous.session.initialized.capabilities).toMatchObject({
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
    });
    expect(anonymous.session.initialized.capabilities).not.toHaveProperty("tasks.list");
    expect((await anonymous.session.request("tasks/list")).error.code).toBe(-32_601);
  });

  test("[B-17] which tools can be tasks, in a session that knows tasks", async () => {
    const { session, url } = await setUp({ tools, plainTools: [plain] });
    const listed = (await session.request("tools/list")).result.tools as Record<string, unknown>[];
    expect(listed.map(({ name, execution }) => [name, execution])).toEqual([
      ["job", { taskSupport: "optional" }],
      ["must", { taskSupport: "required" }],
      ["never", { taskSupport: "forbidden" }],
      ["plain", { taskSupport: "forbidden" }],
      ...["task_status", "task_result", "task_cancel"].map((name) => [name, { taskSupport: "forbidden" }]),
    ]);
    const older = await rpc2025(url, { revision: "2025-06-18" });
    expect(older.initialized).toMatchObject({ protocolVersion: "2025-06-18" });
    const same = (await older.request("tools/list")).result.tools as Record<string, unknown>[];
    expect(same.map(({ name }) => name)).toEqual(listed.map(({ name }) => name));
    expect(JSON.stringify(same)).not.toContain("execution");
  });

  test("nothing of tasks where the server does not speak them", async () => {
    const { session } = await setUp({ wires: ["2026-07-28", "none"] });
    expect(session.initialized.capabilities).not.toHaveProperty("tasks");
    expect(JSON.stringify((await session.request("tools/list")).result)).not.toContain("execution");
    const { result } = await session.request("tools/call", { name: "job", arguments: {}, task: {} });
    expect(result).not.toHaveProperty("task");
    expect(result).toMatchObject({ isError: false, structuredContent: { taskId: expect.any(String) } });
    expect((await session.request("tasks/get", { taskId: "x" })).error.code).toBe(-32_601);
  });
});

describe("a call that asks to be a task", () => {
  test("[B-4] is answered with the task, working, and with the text for the model", async () => {
    const tools = [{ ...job, task: { immediateResponse: "I have begun {{input.file}}." } }];
    const { session, backend } = await setUp({ tools });
    const { result } = await session.request("tools/call", {
      name: "job",
      arguments: { file: "a.mov" },
      task: { ttl: 90_000 },
    });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(result).toEqual({
      task: {
        taskId: expect.stringMatching(/^\S{20,}$/),
        status: "working",
        createdAt: time,
        lastUpdatedAt: time,
        ttl: null,
        pollInterval: 2_000,
      },
      _meta: { "io.modelcontextprotocol/model-immediate-response": "I have begun a.mov." },
    });
    expect(backend.starts()).toBe(1);
  });

  test("[B-4] is working also when its job asks or ends at once", async () => {
    const scripts = {
      asks: (execution: { ask(): void }) => void execution.ask(),
      ends: (execution: { succeed(value: string): void }) => execution.succeed("done"),
    };
    const tools = Object.keys(scripts).map((run) => ({ ...job, name: run, target: { run } }));
    const { session } = await setUp({ tools, fake: { scripts } });
    for (const name of Object.keys(scripts)) {
      const { result } = await session.request("tools/call", { name, task: {} });
      expect(result).toMatchObject({ task: { status: "working" } });
      expect(result).not.toHaveProperty("content");
    }
  });

  test("case 6: is answered within ackMs while the backend's start hangs, and a retry starts nothing more", async () => {
    const clock = fakeClock();
    const tools = [{ ...job, task: { ackMs: 2_000, dedupeWindowMs: 60_000 } }];
    const { session, backend } = await setUp({ tools, clock, store: memoryStore({ clock }), fake: { clock } });
    backend.faults.next("start", { before: "hang" });
    let isAnswered = false;
    const answer = callForTask(session).finally(() => {
      isAnswered = true;
    });
    await eventually(() => backend.callsOf("start").length === 1);
    await clock.advance(1_999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    const taskId = await inTime(answer);
    const again = callForTask(session);
    await eventually(async () => {
      await clock.advance(500);
      return Promise.race([again.then(() => true), clock.settle().then(() => false)]);
    });
    expect(await again).toBe(taskId);
    await eventually(async () => {
      await clock.advance(10_000);
      return backend.starts() === 1;
    });
    backend.of().succeed(1);
    await backend.events.settled();
    expect((await session.request("tasks/result", { taskId })).result).toMatchObject({ content: [{ text: "1" }] });
    expect(backend.starts()).toBe(1);
  });
});

describe("[B-9] tasks/get", () => {
  test("is the task itself, as one plain JSON message", async () => {
    const { session, backend } = await setUp();
    const taskId = await callForTask(session);
    backend.of().progress({ done: 3, total: 10 });
    await backend.events.settled();
    const { headers, result, status } = await session.request("tasks/get", { taskId });
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(Object.keys(result).sort()).toEqual([
      "createdAt",
      "lastUpdatedAt",
      "pollInterval",
      "status",
      "statusMessage",
      "taskId",
      "ttl",
    ]);
    expect(result).toMatchObject({ taskId, status: "working", statusMessage: "3 of 10", ttl: null });
    expect(await session.request("tasks/get", { taskId })).toMatchObject({ result });
  });

  test("[B-10] goes by its taskId alone, whatever else a client sends along", async () => {
    const { session, backend } = await setUp();
    const [one, two] = [await callForTask(session), await callForTask(session)];
    const _meta = relatedTo(two);
    expect((await session.request("tasks/get", { taskId: one, _meta })).result.taskId).toBe(one);
    // The official client of this revision sends `task` with every request of a call.
    expect((await session.request("tasks/get", { taskId: one, task: {} })).result.taskId).toBe(one);
    backend.executions[0]?.succeed(1);
    await backend.events.settled();
    const { result } = await session.request("tasks/result", { taskId: one, _meta, task: {} });
    expect(result).toEqual({ content: [{ type: "text", text: "1" }], isError: false, _meta: relatedTo(one) });
    expect((await session.request("tasks/cancel", { taskId: two, _meta: relatedTo(one) })).result.taskId).toBe(two);
  });
});
