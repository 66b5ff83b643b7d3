import { describe, expect, test } from "@jest/globals";
import { createTaskClient } from "../src/create-task-client.ts";
import { isTaskClientError, type TaskClientErrorCode, taskClient } from "../src/index.ts";
import { core, modern, scriptedClient } from "./scripted-client.ts";

const task = { resultType: "task", taskId: "t-1", status: "working", pollIntervalMs: 0 };
const codeOf = async (work: Promise<unknown>): Promise<TaskClientErrorCode | "none"> => {
  try {
    await work;
    return "none";
  } catch (error) {
    if (isTaskClientError(error)) return error.code;
    throw error;
  }
};

describe("a server that answers what the protocol does not allow", () => {
  test.each<[string, unknown]>([
    ["the task of somebody else", { ...task, taskId: "t-2" }],
    ["no task", null],
    ["a list", []],
    ["a result whose content is a text", { ...task, status: "completed", result: { content: "done" } }],
    ["no result", { ...task, status: "completed" }],
  ])("%s: bad_response", async (_what, answer) => {
    const client = scriptedClient({ ...modern, answer: (method) => (method === "tools/call" ? task : answer) });
    expect(await codeOf(taskClient(client).beginCall("job").result())).toBe("bad_response");
  });

  test("rounds of questions without end", async () => {
    const round = { resultType: "input_required", requestState: "x" };
    const client = scriptedClient({ ...modern, answer: () => round });
    expect(await codeOf(taskClient(client).beginCall("job").result())).toBe("bad_response");
    expect(client.sent.length).toBeLessThan(100);
  });

  test("pages in circles", async () => {
    const client = scriptedClient({ ...core, answer: () => ({ tasks: [], nextCursor: "again" }) });
    const all = async (): Promise<void> => {
      for await (const _task of taskClient(client).list());
    };
    expect(await codeOf(all())).toBe("bad_response");
  });

  test("a result in parts that go in circles", async () => {
    const part = { text: "x", _meta: { "taskbridge/nextUri": "r://1" } };
    const client = scriptedClient({ ...modern, answer: () => ({ contents: [part] }) });
    const preview = { content: [], structuredContent: { resultUri: "r://1" } };
    expect(await codeOf(taskClient(client).readWhole(preview))).toBe("bad_response");
  });

  test("a state that nobody knows is no end", async () => {
    const states = ["dreaming", "completed"];
    const client = scriptedClient({
      ...modern,
      answer: (method) =>
        method === "tools/call" ? task : { ...task, status: states.shift(), result: { content: [] } },
    });
    expect(await taskClient(client).beginCall("job").result()).toEqual({ content: [] });
  });
});

/** Every pause passes at once. */
const withoutPauses = () => {
  let time = 0;
  return {
    now: () => time,
    sleep: async (ms: number) => {
      time += ms;
    },
    after: () => () => {},
  };
};

describe("what ends a task without a result", () => {
  test.each<[object, TaskClientErrorCode]>([
    [{ ...task, status: "failed", error: { code: -32_000, message: "no" } }, "failed"],
    [{ ...task, status: "cancelled" }, "cancelled"],
    [{ error: { code: -32_602, message: "Task has expired" } }, "expired"],
    [{ error: { code: -32_602, message: "Task not found" } }, "not_found"],
    [{ error: { code: -32_603, message: "oh" } }, "refused"],
  ])("%j: %s", async (answer, code) => {
    const client = scriptedClient({ ...modern, answer: (method) => (method === "tools/call" ? task : answer) });
    const pending = createTaskClient(client, {}, withoutPauses()).beginCall("job");
    expect(await codeOf(pending.result())).toBe(code);
    await expect(pending.result()).rejects.toMatchObject({ taskId: "t-1" });
  });

  test("on 2025-11-25 a failed task has the result that the call would have had", async () => {
    const answers: Record<string, unknown> = {
      "tools/list": { tools: [{ name: "job", inputSchema: {}, execution: { taskSupport: "optional" } }] },
      "tools/call": { task: { taskId: "t-1", status: "working", pollInterval: 0 } },
      "tasks/get": { taskId: "t-1", status: "failed", statusMessage: "no" },
      "tasks/result": { content: [{ type: "text", text: "no" }], isError: true },
    };
    const client = scriptedClient({ ...core, answer: (method) => answers[method] });
    expect(await taskClient(client).beginCall("job").result()).toMatchObject({ isError: true });
    answers["tasks/result"] = { error: { code: -32_603, message: "broken" } };
    expect(await codeOf(taskClient(client).beginCall("job").result())).toBe("failed");
  });
});

describe("how often a server is asked", () => {
  const pausesOf = async (answers: readonly (object | Error)[]): Promise<readonly number[]> => {
    const pauses: number[] = [];
    const rest = [...answers];
    const client = scriptedClient({
      ...modern,
      answer: (method) => {
        if (method === "tools/call") return { ...task, pollIntervalMs: 1_000 };
        if (method !== "tasks/get") return undefined;
        const next = rest.shift();
        if (next instanceof Error) throw next;
        return next ?? { ...task, status: "completed", result: { content: [] } };
      },
    });
    const clock = { now: () => 0, sleep: async (ms: number) => void pauses.push(ms), after: () => () => {} };
    await createTaskClient(client, {}, clock).beginCall("job").result();
    return pauses;
  };
  const still = { ...task, pollIntervalMs: 1_000 };

  test("never more often than it asks for, less often the longer nothing happens", async () => {
    const pauses = await pausesOf(Array.from({ length: 20 }, () => still));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
    expect(pauses[0]).toBeLessThanOrEqual(1_250);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(10_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(12_500);
  });

  test("a poll interval that grows is heeded at once", async () => {
    const pauses = await pausesOf([still, { ...still, pollIntervalMs: 60_000 }]);
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(60_000);
  });

  test("Retry-After is waited for", async () => {
    const busy = Object.assign(new Error("busy"), {
      data: { status: 429, text: "", headers: new Headers({ "retry-after": "7" }) },
    });
    const pauses = await pausesOf([busy]);
    expect(pauses.filter((ms) => ms >= 7_000)).toHaveLength(1);
  });
});

describe("arguments that are wrong", () => {
  const client = scriptedClient({ answer: () => ({ content: [] }) });

  test.each<[string, () => unknown]>([
    ["a client that is not connected", () => taskClient({ ...client, transport: undefined })],
    ["an ID of 10 kB", () => taskClient(client).beginCall("job", {}, { taskId: "x".repeat(10_240) })],
    ["an ID with path pieces", () => taskClient(client).beginCall("job", {}, { taskId: "../x" })],
    ["a time below 0", () => taskClient(client).beginCall("job", {}, { timeoutMs: -1 })],
    ["no tool", () => taskClient(client).beginCall("")],
    ["arguments that are a list", () => taskClient(client).beginCall("job", [] as never)],
  ])("%s", (_what, act) => {
    expect(act).toThrow(expect.objectContaining({ code: "invalid_input" }));
    expect(client.sent).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ["a wire that the server does not offer", () => taskClient(client, { wire: "2025-11-25" })],
    ["a wire of another connection", () => taskClient(client, { wire: "2026-07-28" })],
    [
      "an ID of one's own on 2026-07-28",
      () => taskClient(scriptedClient({ ...modern, answer: () => ({}) })).beginCall("job", {}, { taskId: "mine" }),
    ],
  ])("%s: unsupported", (_what, act) => {
    expect(act).toThrow(expect.objectContaining({ code: "unsupported" }));
  });
});

test("a connection that breaks before the answer: the call is not made again", async () => {
  const broken = new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
  const client = scriptedClient({
    ...modern,
    answer: () => {
      throw broken;
    },
  });
  expect(await codeOf(taskClient(client).beginCall("job").result())).toBe("outcome_unknown");
  expect(client.sent).toHaveLength(1);
});
