import { afterEach, describe, expect, test } from "@jest/globals";
import { createTaskClient } from "../src/create-task-client.ts";
import { isTaskClientError, type Task, type TaskClient, type TaskClientOptions } from "../src/index.ts";
import { fastClock } from "./fast-clock.ts";
import { core, modern, type Script, type ScriptedClient, scriptedClient } from "./scripted-client.ts";
import { atEnd, endAll, eventually } from "./serve.ts";

afterEach(endAll);

const done = { content: [{ type: "text" as const, text: "done" }] };
const working = { resultType: "task", taskId: "t-1", status: "working", pollIntervalMs: 0 };
const completed = { ...working, resultType: "complete", status: "completed", result: done };

const countOf = ({ sent }: ScriptedClient, wanted: string): number =>
  sent.filter(({ method }) => method === wanted).length;

const httpError = (status: number): Error => Object.assign(new Error(`HTTP ${status}`), { data: { status, text: "" } });
const refused = (): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) });

const begin = (script: Script, options: TaskClientOptions = {}) => {
  const client = scriptedClient(script);
  const clock = fastClock();
  const calls: TaskClient = createTaskClient(client, options, clock);
  atEnd(calls.close);
  return { client, clock, calls };
};

describe("a server without tasks that refuses what it does not know with -32602, as the Python SDK does", () => {
  const script = (answer: () => unknown): Script => ({
    answer: (method) =>
      method === "tools/call"
        ? answer()
        : { error: { code: -32_602, message: "Invalid request parameters", data: "" } },
  });

  test("a call that takes its time runs once, and its answer is the result", async () => {
    let finish = (_result: unknown): void => {};
    const answered = new Promise((resolve) => {
      finish = resolve;
    });
    const { client, clock, calls } = begin(script(() => answered));
    const pending = calls.beginCall("job");
    await eventually(() => countOf(client, "tasks/get") > 0);
    for (let turn = 0; turn < 50; turn++) await clock.sleep(10_000);
    finish(done);
    expect(await pending.result()).toEqual(done);
    expect(await pending.created).toBeUndefined();
    expect(countOf(client, "tools/call")).toBe(1);
  });

  test("a connection that breaks: the call is not made again", async () => {
    const { client, calls } = begin(
      script(() => {
        throw new TypeError("fetch failed");
      }),
    );
    await expect(calls.beginCall("job").result()).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(countOf(client, "tools/call")).toBe(1);
  });

  test.each(["Unknown method: tasks/get", "Method tasks/get not found", "Unknown task method"])(
    "%s: the same",
    async (message) => {
      const { client, calls } = begin({
        answer: (method) => {
          if (method !== "tools/call") return { error: { code: -32_602, message } };
          throw new TypeError("fetch failed");
        },
      });
      await expect(calls.beginCall("job").result()).rejects.toMatchObject({ code: "outcome_unknown" });
      expect(countOf(client, "tools/call")).toBe(1);
    },
  );
});

describe("SEP-1686: a call that was taken for lost and is answered after all", () => {
  test("has its result, though it was sent again", async () => {
    let finish = (_result: unknown): void => {};
    const answered = new Promise((resolve) => {
      finish = resolve;
    });
    const { client, calls } = begin({
      answer: (method) => {
        if (method === "tools/call") {
          // The first is answered as soon as there is a second, which never is.
          if (countOf(client, "tools/call") === 2) finish(done);
          return countOf(client, "tools/call") === 1 ? answered : undefined;
        }
        return { error: { code: -32_602, message: "Failed to retrieve task: Task not found" } };
      },
    });
    expect(await calls.beginCall("job").result()).toEqual(done);
    expect(countOf(client, "tools/call")).toBeGreaterThanOrEqual(2);
  });
});

describe("SEP-1686: cancelling", () => {
  const missing = { error: { code: -32_602, message: "Failed to retrieve task: Task not found" } };

  test("a cancellation that overtakes its call is told again when the task turns up", async () => {
    let isThere = false;
    let isCancelled = false;
    let inspections = 0;
    const { client, calls } = begin({
      answer: (method, params) => {
        if (method === "notifications/cancelled") isCancelled = isThere;
        if (method !== "tasks/get") return undefined;
        isThere = ++inspections > 2;
        if (!isThere) return missing;
        return { taskId: params["taskId"], status: isCancelled ? "cancelled" : "working", keepAlive: 1 };
      },
    });
    const pending = calls.beginCall("job", {}, { taskId: "mine" });
    await pending.cancel();
    await expect(pending.result()).rejects.toMatchObject({ code: "cancelled", taskId: "mine" });
    expect(isCancelled).toBe(true);
    expect(countOf(client, "tasks/delete")).toBe(0);
  });

  test("a task that goes on all the same is deleted", async () => {
    let isThere = false;
    let isDeleted = false;
    const { calls } = begin({
      answer: (method, params) => {
        if (method === "notifications/cancelled") isThere = true;
        if (method === "tasks/delete" && params["taskId"] === "mine") isDeleted = true;
        if (method === "tasks/delete") return {};
        if (method !== "tasks/get") return undefined;
        return isDeleted || !isThere ? missing : { taskId: params["taskId"], status: "working", keepAlive: 1 };
      },
    });
    const pending = calls.beginCall("job", {}, { taskId: "mine" });
    const cancelled = pending.cancel();
    await expect(pending.result()).rejects.toMatchObject({ code: "cancelled" });
    await cancelled;
    expect(isDeleted).toBe(true);
  });

  test.each<[string, () => Error]>([
    ["the session is lost", () => httpError(404)],
    ["the server is down", refused],
  ])("where %s, the task is deleted by its ID", async (_when, toError) => {
    let isDown = false;
    const script: Script = {
      answer: (method, params) => {
        if (method === "notifications/cancelled") throw toError();
        if (method === "tasks/delete" && isDown) {
          isDown = false;
          throw toError();
        }
        if (method === "tasks/delete") return {};
        if (method !== "tasks/get") return undefined;
        return { taskId: params["taskId"], status: "working", keepAlive: 1, pollFrequency: 600_000 };
      },
    };
    const next = scriptedClient(script);
    const { client, calls } = begin(script, { reconnect: async () => next });
    const pending = calls.beginCall("job", {}, { taskId: "mine" });
    client.receive({
      jsonrpc: "2.0",
      method: "notifications/tasks/created",
      params: { _meta: { "modelcontextprotocol.io/related-task": { taskId: "mine" } } },
    });
    await pending.created;
    isDown = true;
    await pending.cancel();
    expect(countOf(client, "tasks/delete") + countOf(next, "tasks/delete")).toBe(2);
  });
});

describe("a call that was certainly not acted on is sent again", () => {
  test.each<[string, Script, () => Error]>([
    ["2026-07-28, nobody listens", { ...modern, answer: () => undefined }, refused],
    ["2026-07-28, too many requests", { ...modern, answer: () => undefined }, () => httpError(429)],
    ["none, nobody listens", { ...modern, capabilities: {}, answer: () => undefined }, refused],
    ["SEP-1686, too many requests", { answer: () => undefined }, () => httpError(429)],
  ])("%s", async (_name, script, toError) => {
    let tries = 0;
    const { calls, clock } = begin({
      ...script,
      answer: () => {
        if (++tries < 3) throw toError();
        return { ...done, resultType: "complete" };
      },
    });
    expect(await calls.beginCall("job").result()).toEqual(done);
    expect(tries).toBe(3);
    expect(clock.pauses.length).toBeGreaterThanOrEqual(2);
  });

  test.each([500, 503, 408])("after HTTP %i it may have run, and is not", async (status) => {
    const { client, calls } = begin({
      ...modern,
      answer: () => {
        throw httpError(status);
      },
    });
    await expect(calls.beginCall("job").result()).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(countOf(client, "tools/call")).toBe(1);
  });
});

describe("a look that fails for the server's own reasons", () => {
  const fault = { error: { code: -32_603, message: "Internal error: database is locked" } };

  test("is taken again", async () => {
    const inspections: unknown[] = [fault, fault, completed];
    const { calls } = begin({
      ...modern,
      answer: (method) => (method === "tools/call" ? working : inspections.shift()),
    });
    expect(await calls.beginCall("job").result()).toEqual(done);
  });

  test("for as long as the client is patient, while what the server keeps tasks in is away", async () => {
    const unavailable = {
      error: { code: 503, message: "try again later", data: { reason: "unavailable", retryAfterMs: 1_000 } },
    };
    const inspections: unknown[] = [...Array.from({ length: 20 }, () => unavailable), completed];
    const { calls } = begin({
      ...modern,
      answer: (method) => (method === "tools/call" ? working : inspections.shift()),
    });
    expect(await calls.beginCall("job").result()).toEqual(done);
  });

  test("not for ever", async () => {
    const { client, calls } = begin({ ...modern, answer: (method) => (method === "tools/call" ? working : fault) });
    await expect(calls.beginCall("job").result()).rejects.toMatchObject({ code: "refused", taskId: "t-1" });
    expect(countOf(client, "tasks/get")).toBeLessThan(10);
  });

  test("of a result, a server that lacks it at present says nothing of the task", async () => {
    const unavailable = {
      error: { code: 503, message: "try again later", data: { reason: "unavailable", retryAfterMs: 1_000 } },
    };
    const results: unknown[] = [unavailable, unavailable, { content: [{ type: "text", text: "done" }] }];
    const answers: Record<string, unknown> = {
      "tools/list": { tools: [{ name: "job", inputSchema: {}, execution: { taskSupport: "optional" } }] },
      "tools/call": { task: { taskId: "t-1", status: "completed" } },
    };
    const answer = (method: string): unknown => (method === "tasks/result" ? results.shift() : answers[method]);
    const { calls } = begin({ ...core, answer });
    expect((await calls.beginCall("job").result()).content).toEqual([{ type: "text", text: "done" }]);
  });

  test("of a result, it is the task's own", async () => {
    const answers: Record<string, unknown> = {
      "tools/list": { tools: [{ name: "job", inputSchema: {}, execution: { taskSupport: "optional" } }] },
      "tools/call": { task: { taskId: "t-1", status: "failed" } },
      "tasks/result": fault,
    };
    const { client, calls } = begin({ ...core, answer: (method) => answers[method] });
    await expect(calls.beginCall("job").result()).rejects.toMatchObject({ code: "failed" });
    expect(countOf(client, "tasks/result")).toBe(1);
  });
});

describe("a server that would keep a client busy or idle for ever", () => {
  test("a poll interval of 31 years", async () => {
    const inspections = [{ ...working, pollIntervalMs: 1e12 }, completed];
    const { calls, clock } = begin({
      ...modern,
      answer: (method) => {
        if (method === "tools/call") return { ...working, pollIntervalMs: 1e12 };
        return method === "tasks/get" ? inspections.shift() : undefined;
      },
    });
    expect(await calls.beginCall("job").result()).toEqual(done);
    expect(Math.max(...clock.pauses)).toBeLessThanOrEqual(750_000);
  });

  test("a pause that is longer than the client is patient", async () => {
    const busy = { error: { code: -32_000, message: "busy", data: { retryAfterMs: 1e12 } } };
    const { calls, clock } = begin({ ...modern, answer: () => busy });
    await expect(calls.read("t-1")).rejects.toMatchObject({ code: "refused", retryAfterMs: 1e12 });
    expect(clock.pauses).toEqual([]);
  });

  test("always another page, and parts without end", async () => {
    let page = 0;
    const { calls } = begin({ ...core, answer: () => ({ tasks: [], tools: [], nextCursor: String(++page) }) });
    await expect(calls.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "bad_response" });
    const pending = calls.beginCall("job");
    await pending.cancel();
    await expect(pending.result()).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("what is told of a task", () => {
  test("never goes back from its end", async () => {
    let finish = (_result: unknown): void => {};
    const answered = new Promise((resolve) => {
      finish = resolve;
    });
    const { client, calls } = begin({
      answer: (method, params) => {
        if (method === "tools/call") return answered;
        return { taskId: params["taskId"], status: "working", keepAlive: 1, pollFrequency: 0 };
      },
    });
    const seen: Task["status"][] = [];
    const pending = calls.beginCall(
      "job",
      {},
      {
        taskId: "mine",
        onStatus: async ({ status }) => {
          seen.push(status);
          if (status === "completed") {
            const inspections = countOf(client, "tasks/get");
            for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
            expect(countOf(client, "tasks/get")).toBeLessThanOrEqual(inspections + 50);
          }
        },
      },
    );
    await eventually(() => seen.includes("working"));
    finish(done);
    await pending.result();
    expect(seen).toEqual(["working", "completed"]);
    expect(pending.task?.status).toBe("completed");
  });
});

test.each([undefined, null, {}, { action: "yes" }, "accept"])(
  "onQuestion that answers %j: invalid_input",
  async (answer) => {
    const round = { method: "elicitation/create", params: { message: "Sure?" } };
    const before = begin({
      ...modern,
      answer: () => ({ resultType: "input_required", inputRequests: { sure: round } }),
    });
    const onQuestion = (): never => answer as never;
    await expect(before.calls.beginCall("job", {}, { onQuestion }).result()).rejects.toMatchObject({
      code: "invalid_input",
    });
    const asking = { ...working, status: "input_required", inputRequests: { sure: round } };
    const during = begin({ ...modern, answer: (method) => (method.startsWith("t") ? asking : undefined) });
    const error = await during.calls
      .beginCall("job", {}, { onQuestion })
      .result()
      .catch((reason: unknown) => reason);
    expect(isTaskClientError(error, "invalid_input")).toBe(true);
  },
);

test("many calls share a signal without a warning", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  const { calls } = begin({ ...modern, answer: () => undefined });
  const stop = new AbortController();
  const pending = Array.from({ length: 30 }, () => calls.beginCall("job", {}, { signal: stop.signal }));
  await new Promise(setImmediate);
  stop.abort();
  for (const call of pending) await expect(call.result()).rejects.toMatchObject({ code: "detached" });
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
