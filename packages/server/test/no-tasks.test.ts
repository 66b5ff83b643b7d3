import { afterEach, describe, expect, test } from "@jest/globals";
import type { TaskRecord } from "@taskbridge/core";
import { createTaskEngine, localOwner } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { fakeAdapter } from "@taskbridge/testkit/adapter";
import { waitForAnswer } from "../src/mcp/wait-for-answer.ts";
import { eventually, serve, stopAll } from "./serve.ts";

afterEach(stopAll);

const noTasks = { tasks: false };
const tool = (more: object = {}) => ({ name: "job", adapter: "fake", target: { run: "job" }, ...more });

describe("a host that knows no tasks", () => {
  test("[D-1] gets the result when it comes in time", async () => {
    const { rpc, backend } = await serve({ waitMs: 20_000 });
    const answer = rpc("tools/call", { name: "job" }, noTasks);
    await eventually(() => backend.starts() === 1);
    backend.of().succeed({ files: 14 });
    expect((await answer).result).toMatchObject({
      resultType: "complete",
      content: [{ text: '{"files":14}' }],
      isError: false,
    });
  });

  test("case 22: [D-2] gets a handle when it does not, whether or not it asked for progress", async () => {
    const { rpc, backend, server } = await serve({ waitMs: 30 });
    const { result } = await rpc("tools/call", { name: "job" }, noTasks);
    expect(result).toMatchObject({
      resultType: "complete",
      isError: false,
      structuredContent: { taskId: expect.any(String), taskStatus: "working", pollIntervalMs: expect.any(Number) },
    });
    const { taskId } = result.structuredContent as { taskId: string };
    expect(result.content).toEqual([
      {
        type: "text",
        text: `Task ${taskId} of job is still running. It goes on by itself. To wait for its result, call task_status with taskId ${taskId} and waitSeconds 10.`,
      },
    ]);
    expect(backend.of().cancels).toEqual([]);
    expect((await server.engine.readTask(taskId, { owner: localOwner })).record.state).toBe("running");
  });

  test("[D-5] is told at once what is asked, and how a person answers it", async () => {
    const { rpc } = await serve({
      waitMs: 20_000,
      fake: { onStart: (run) => run.ask({ message: "Delete 14 files?" }) },
    });
    const { result } = await rpc("tools/call", { name: "job" }, noTasks);
    expect(result).toMatchObject({ isError: false, structuredContent: { taskStatus: "input_required" } });
    expect(JSON.stringify(result.content)).toMatch(/Delete 14 files\?.*taskbridge tasks answer .*task_status/);
  });

  test("gets failures and cancellations as errors of the tool", async () => {
    const { rpc, backend } = await serve({ waitMs: 20_000 });
    for (const [end, text] of [
      [() => backend.of().fail("exit code 2"), "exit code 2"],
      [() => backend.of().fail({ kind: "protocol", reason: "lost" }), "lost"],
      [() => backend.of().stop("stopped outside"), "stopped outside"],
    ] as const) {
      const starts = backend.starts();
      const answer = rpc("tools/call", { name: "job" }, noTasks);
      await eventually(() => backend.starts() > starts);
      end();
      const { result } = await answer;
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toContain(text);
    }
  });

  test("[D-7] is refused only where it is not served at all", async () => {
    const { rpc } = await serve({ wires: ["2026-07-28"] });
    expect((await rpc("tools/call", { name: "job" }, noTasks)).error.code).toBe(-32_021);
  });

  test("is all there is where tasks are not served", async () => {
    const { rpc } = await serve({ wires: ["none"] });
    const { result } = await rpc("server/discover");
    expect(result.capabilities).not.toHaveProperty("extensions");
    expect((await rpc("tools/call", { name: "job" })).result).toMatchObject({
      structuredContent: { taskStatus: "working" },
    });
    expect((await rpc("tasks/get", { taskId: "x" })).error.code).toBe(-32_601);
  });
});

describe("[D-6] an output schema", () => {
  const output = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };

  test("is published so that a handle and a preview fit as well, and results are structured", async () => {
    const { rpc, backend } = await serve({ tools: [tool({ output })], limits: { maxInlineResultBytes: 64 } });
    const { tools } = (await rpc("tools/list")).result;
    expect(tools).toMatchObject([{ outputSchema: { type: "object", anyOf: [output, {}, {}] } }]);
    const ends = [{ files: 14 }, { files: "many" }, { files: 1, pad: "x".repeat(100) }];
    const results = [];
    for (const value of ends) {
      const { taskId } = (await rpc("tools/call", { name: "job" })).result;
      backend.of().succeed(value);
      await backend.events.settled();
      results.push((await rpc("tasks/get", { taskId })).result.result);
    }
    expect(results).toMatchObject([
      { structuredContent: { files: 14 }, isError: false },
      { isError: true, content: [{ text: expect.stringContaining("files") }, { text: '{"files":"many"}' }] },
      {
        structuredContent: { resultBytes: 120, resultUri: expect.stringMatching(/^taskbridge:/) },
        content: [{}, {}, { type: "resource_link" }],
        isError: false,
      },
    ]);
    expect(results[1]).not.toHaveProperty("structuredContent");
  });
});

describe("[D-3] progress", () => {
  const setUp = async () => {
    const clock = fakeClock();
    const { adapter, backend } = fakeAdapter({ clock });
    const engine = createTaskEngine({
      store: memoryStore({ clock }),
      adapters: { fake: adapter },
      tools: [tool()],
      clock,
    });
    await engine.open();
    const created = engine.createTask({ tool: "job", input: {}, owner: localOwner });
    await clock.settle();
    const reported: [at: number, record: TaskRecord][] = [];
    const started = clock.now();
    const over = new AbortController();
    const answer = waitForAnswer(
      { engine, clock },
      { owner: localOwner },
      {
        view: await created,
        waitMs: 40_000,
        over: over.signal,
        report: (record) => void reported.push([clock.now() - started, record]),
      },
    );
    return { clock, backend, reported, answer, over, engine };
  };

  test("is told every 15 s while nothing happens", async () => {
    const { clock, reported, answer } = await setUp();
    for (let second = 0; second < 41; second++) await clock.advance(1_000);
    expect(reported.map(([at]) => at)).toEqual([15_000, 30_000]);
    expect((await answer).record.state).toBe("running");
  });

  test("is told when something happens, but not more than once a second", async () => {
    const { clock, backend, reported, answer } = await setUp();
    await clock.advance(5_000);
    for (let done = 1; done <= 10; done++) {
      backend.of().progress({ done, total: 10 });
      await clock.advance(200);
    }
    await clock.advance(2_000);
    expect(reported.length).toBeGreaterThan(0);
    expect(reported.length).toBeLessThanOrEqual(4);
    expect(reported.at(-1)?.[1].execution?.progress).toEqual({ done: 10, total: 10 });
    backend.of().succeed("done");
    await clock.advance(1_000);
    expect((await answer).record.state).toBe("succeeded");
  });

  test("case 19: nothing is told once the wait is over", async () => {
    const { clock, backend, reported, answer, over } = await setUp();
    over.abort();
    await clock.settle();
    await answer;
    const before = reported.length;
    backend.of().progress({ done: 1 });
    await clock.advance(60_000);
    expect(reported).toHaveLength(before);
  });

  test("travels on the call's own stream, rising, and only when asked for", async () => {
    const onStart = (run: { progress(p: object): void }) => run.progress({ done: 1, total: 2 });
    const clock = fakeClock();
    const store = memoryStore({ clock });
    const { rpc, backend } = await serve({ waitMs: 20_000, store, clock, fake: { onStart, clock } });
    const answer = rpc("tools/call", { name: "job" }, { ...noTasks, meta: { progressToken: "p" } });
    await eventually(() => backend.starts() === 1);
    backend.of().progress({ done: 2, total: 2, message: "last" });
    // The throttle lets it through after a second; the end must not come before.
    await clock.advance(1_200);
    backend.of().succeed("done");
    const { messages } = await answer;
    expect(messages.slice(0, -1)).toMatchObject([
      {
        method: "notifications/progress",
        params: { progressToken: "p", progress: 2, total: 2, message: "2 of 2: last" },
      },
    ]);
    const silent = rpc("tools/call", { name: "job" }, noTasks);
    await eventually(() => backend.starts() === 2);
    backend.of().succeed("done");
    expect((await silent).messages).toHaveLength(1);
  });
});
