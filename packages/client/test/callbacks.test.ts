import { describe, expect, test } from "@jest/globals";
import { type CallOptions, taskClient } from "../src/index.ts";
import { core, modern, type ScriptedClient, scriptedClient } from "./scripted-client.ts";

const thrown = new Error("the host is broken");
const refuse = (): never => {
  throw thrown;
};
const refuseLater = (): Promise<never> => Promise.reject(thrown);

describe("what a callback throws ends the wait with that error", () => {
  const begin = (options: CallOptions) => {
    const client: ScriptedClient = scriptedClient({
      ...core,
      answer: (method, params) => {
        if (method === "tools/list") {
          return { tools: [{ name: "job", inputSchema: {}, execution: { taskSupport: "forbidden" } }] };
        }
        if (method !== "tools/call") return undefined;
        const { progressToken } = (params["_meta"] ?? {}) as { progressToken?: unknown };
        if (progressToken === undefined) {
          client.receive({ jsonrpc: "2.0", id: 7, method: "elicitation/create", params: { message: "Sure?" } });
        } else {
          const params = { progressToken, progress: 1, total: 2, message: "half" };
          client.receive({ jsonrpc: "2.0", method: "notifications/progress", params });
        }
        return undefined;
      },
    });
    return { client, pending: taskClient(client).beginCall("job", {}, options) };
  };

  test.each<[string, CallOptions]>([
    ["onProgress", { onProgress: refuse }],
    ["onProgress, later", { onProgress: refuseLater }],
    ["onQuestion", { onQuestion: refuse }],
    ["onQuestion, later", { onQuestion: refuseLater }],
  ])("%s", async (_name, options) => {
    const { pending } = begin(options);
    await expect(pending.result()).rejects.toBe(thrown);
  });

  test("onStatus", async () => {
    const task = { resultType: "task", taskId: "t-1", status: "working", pollIntervalMs: 0 };
    const client = scriptedClient({ ...modern, answer: () => task });
    await expect(taskClient(client).beginCall("job", {}, { onStatus: refuse }).result()).rejects.toBe(thrown);
  });

  test("the server is not told the host's own words", async () => {
    const { client, pending } = begin({ onQuestion: refuse });
    await pending.result().catch(() => {});
    await new Promise(setImmediate);
    expect(client.sent.at(-1)).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32_603, message: "the question could not be put to anybody" },
    });
  });
});

test("progress is told as the tool tells it", async () => {
  const reported: unknown[] = [];
  const client: ScriptedClient = scriptedClient({
    answer: (method, params) => {
      if (method !== "tools/call") return undefined;
      const { progressToken } = params["_meta"] as { progressToken: unknown };
      const of = (token: unknown, progress: unknown): void =>
        client.receive({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: token, progress, _meta: {} },
        });
      of("somebody else's", 1);
      of(progressToken, "much");
      of(progressToken, 2);
      return { content: [] };
    },
  });
  await taskClient(client)
    .beginCall("job", {}, { onProgress: (progress) => void reported.push(progress) })
    .result();
  expect(reported).toEqual([{ progress: 2 }]);
});

test("`list` rejects where there is no list", async () => {
  const client = scriptedClient({ ...modern, answer: () => ({}) });
  for (const wire of ["2026-07-28", "none"] as const) {
    const inspections = taskClient(client, { wire }).list()[Symbol.asyncIterator]();
    await expect(inspections.next()).rejects.toMatchObject({ code: "unsupported" });
  }
});

test("answers to what is not open any more are told, on 2026-07-28 too", async () => {
  const open = { sure: { method: "elicitation/create", params: { message: "Sure?" } } };
  const task = { taskId: "t-1", status: "input_required", inputRequests: open };
  const client = scriptedClient({ ...modern, answer: (method) => (method === "tasks/get" ? task : {}) });
  const calls = taskClient(client);
  expect(await calls.answer("t-1", { sure: { action: "decline" }, other: { action: "accept" } })).toEqual(["other"]);
  expect(client.sent.at(-1)).toMatchObject({
    method: "tasks/update",
    params: { taskId: "t-1", inputResponses: { sure: { action: "decline" } } },
  });
  expect(await calls.answer("t-1", { other: { action: "accept" } })).toEqual(["other"]);
  expect(client.sent.filter(({ method }) => method === "tasks/update")).toHaveLength(1);
});
