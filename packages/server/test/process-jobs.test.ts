import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { processAdapter } from "@taskbridge/adapter-process";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { listen } from "./listen-client.ts";
import { rpc2025 } from "./rpc-2025.ts";
import { callForTask } from "./rpc-client.ts";
import { eventually, serve, stopAll } from "./serve.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskbridge-server-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(stopAll);

const script = `
  process.stdin.once("data", () => {
    console.log('::taskbridge {"progress":{"done":1,"total":2}}');
    console.log('::taskbridge {"ask":{"key":"go","message":"Go on?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}}');
    process.stdin.once("data", (line) => {
      console.log('::taskbridge ' + JSON.stringify({ result: { said: JSON.parse(line).answer.content } }));
      process.exit(0);
    });
  });`;

const setUp = async () => {
  const adapter = processAdapter({ directory: join(folder, "jobs") });
  return serve({
    adapters: { local: adapter },
    store: await sqliteStore({ path: join(folder, "tasks.db") }),
    tools: [
      {
        name: "job",
        adapter: "local",
        target: { command: [process.execPath, "-e", script] },
        task: { pollIntervalMs: 50 },
      },
      { name: "missing", adapter: "local", target: { command: ["no-such-program"] }, task: { ackMs: 30_000 } },
    ],
  });
};

test("case 1: a local job goes on while the server restarts, and its question is answered on the new one", async () => {
  const form = { capabilities: { elicitation: {} } };
  const first = await setUp();
  const taskId = await callForTask(first.rpc);
  await first.server.close();
  const second = await setUp();
  const stream = await listen(second.url, { taskIds: [taskId] }, form);
  const rest = stream.rest();
  const get = async () => (await second.rpc("tasks/get", { taskId }, form)).result;
  await eventually(async () => (await get()).status === "input_required");
  const [key = ""] = Object.keys((await get()).inputRequests as object);
  await second.rpc(
    "tasks/update",
    { taskId, inputResponses: { [key]: { action: "accept", content: { ok: true } } } },
    form,
  );
  await eventually(async () => (await get()).status === "completed");
  expect(await get()).toMatchObject({ result: { content: [{ text: '{"said":{"ok":true}}' }], isError: false } });
  const messages = await rest;
  expect(messages.at(-1)).toMatchObject({ result: { resultType: "complete" } });
  expect(messages.at(-2)).toMatchObject({ method: "notifications/tasks", params: { taskId, status: "completed" } });
});

test("[B-23] a command that does not exist is a refused call, and no task", async () => {
  const { url, server } = await setUp();
  const session = await rpc2025(url);
  const calls = Array.from({ length: 6 }, () => session.request("tools/call", { name: "missing", task: {} }));
  for (const { error, result } of await Promise.all(calls)) {
    expect(error.message).toContain('no program "no-such-program" on its PATH');
    expect(result).toEqual({});
  }
  const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 10);
  expect(tasks.filter(({ record }) => record.tool === "missing")).toEqual([]);
});
