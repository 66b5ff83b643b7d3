import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler } from "@modelcontextprotocol/server";
import * as z from "zod";
import { attachTasks, type TaskServer } from "../../src/index.ts";
import { internalsOf } from "../../src/task-server-internals.ts";
import { eventually, inTime, start, stopAll } from "../serve.ts";
import { connectHttp, connectLinked, createClient, hangUp, serveSessions } from "./connect-v1.ts";
import { callByFetch, connectFetch } from "./connect-v2.ts";
import { createHostV1 } from "./host-v1.ts";
import { createHostV2 } from "./host-v2.ts";
import { ourFake, ourLimits, ourTools } from "./our-pipelines.ts";
import { outcomeOf } from "./own-calls.ts";

afterEach(hangUp);
afterEach(stopAll);

const makeHost = (tasks: TaskServer) => {
  const host = createHostV1();
  attachTasks(host, tasks, { owners: "local" });
  return host;
};

const connections: Readonly<Record<string, (tasks: TaskServer, client: Client) => Promise<void>>> = {
  "SDK v1 over a pipe": (tasks, client) => connectLinked(makeHost(tasks), client),
  "SDK v1 over HTTP": async (tasks, client) => connectHttp(await serveSessions(() => makeHost(tasks)), client),
  "SDK v2 over HTTP, without sessions": async (tasks, client) => {
    const handler = createMcpHandler(() => {
      const host = createHostV2();
      attachTasks(host, tasks, { owners: "local" });
      return host;
    });
    await connectFetch(handler.fetch, client);
  },
};

const stopped = { code: -32_603, message: expect.stringContaining("The task server was stopped. Tasks go on") };
const three = { content: [{ type: "text", text: "3" }] };
const options = { tools: ourTools, fake: ourFake, limits: ourLimits };
const withTask = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });

describe("[B-20] a task server that is stopped while its host goes on", () => {
  test.each(Object.keys(connections))("tells clients what to do, and cancels nothing: %s", async (kind) => {
    const { server, backend } = await start(options);
    const client = createClient();
    await connections[kind]?.(server, client);
    const params = { name: "our-slow", arguments: {}, task: {} };
    const { taskId } = (await client.request({ method: "tools/call", params }, withTask)).task;
    const { calls } = internalsOf(server, "test").serve;
    const { tasks } = client.experimental;
    const waiting = outcomeOf(tasks.getTaskResult(taskId, CallToolResultSchema));
    const called = client.callTool({ name: "our-slow", arguments: {} });
    await eventually(() => backend.starts() === 2 && calls.size >= 1);
    await server.close();
    expect(await inTime(waiting)).toMatchObject(stopped);
    // Who knows no tasks gets the handle that it would have got a little later.
    expect(await inTime(called)).toMatchObject({ content: [{ text: expect.stringContaining("our-slow") }] });
    for (const answer of [
      tasks.getTask(taskId),
      tasks.getTaskResult(taskId, CallToolResultSchema),
      tasks.cancelTask(taskId),
      tasks.listTasks(),
      client.callTool({ name: "our-quick", arguments: {} }),
      client.request({ method: "tools/call", params: { name: "our-quick", task: {} } }, withTask),
      client.readResource({ uri: `taskbridge://tasks/${taskId}/result` }),
    ]) {
      expect(await inTime(outcomeOf(answer))).toMatchObject(stopped);
    }
    expect(await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).toEqual(three);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("add");
    expect(backend.executions.flatMap(({ cancels }) => cancels)).toEqual([]);
  });

  test("tells clients of 2026-07-28 as well", async () => {
    const { server } = await start(options);
    const { fetch } = createMcpHandler(() => {
      const host = createHostV2();
      attachTasks(host, server, { owners: "local" });
      return host;
    });
    const send = callByFetch(fetch);
    const taskId = (await send("tools/call", { name: "our-slow" }))[0]?.result?.taskId;
    await server.close();
    for (const [method, params] of [
      ["tasks/get", { taskId }],
      ["tasks/cancel", { taskId }],
      ["tasks/update", { taskId, inputResponses: {} }],
      ["tools/call", { name: "our-quick" }],
      ["resources/read", { uri: `taskbridge://tasks/${taskId}/result` }],
    ] as const) {
      expect((await send(method, params)).at(-1)?.error).toMatchObject(stopped);
    }
    const add = await send("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    expect(add[0]?.result).toMatchObject(three);
  });
});
