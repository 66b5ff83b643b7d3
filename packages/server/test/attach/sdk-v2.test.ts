import { afterEach, describe, expect, test } from "@jest/globals";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { attachTasks, type TaskServer, withTaskStreams } from "../../src/index.ts";
import { toRequest } from "../rpc-client.ts";
import { start, stopAll } from "../serve.ts";

afterEach(stopAll);
const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 20 } }];

const createHost = (tasks?: TaskServer): McpServer => {
  const host = new McpServer({ name: "host", version: "1.0.0" });
  host.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  if (tasks !== undefined) attachTasks(host, tasks, { owners: "local" });
  return host;
};

const caller = (tasks?: TaskServer) => {
  const handler = createMcpHandler(() => createHost(tasks));
  const { fetch } = tasks === undefined ? handler : withTaskStreams(handler, tasks, { owners: "local" });
  return async (method: string, params: Record<string, unknown> = {}): Promise<string> => {
    const name = params.name ?? params.taskId;
    const response = await fetch(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(typeof name === "string" ? { "mcp-name": name } : {}),
        },
        body: JSON.stringify(toRequest(method, params, { id: 1 })),
      }),
    );
    return response.text();
  };
};

describe("an SDK v2 server over HTTP", () => {
  test("answers for itself as before, and runs pipelines as tasks", async () => {
    const { server, backend } = await start({ tools });
    const before = caller();
    const after = caller(server);
    const add = { name: "add", arguments: { a: 1, b: 2 } };
    expect(await after("tools/call", add)).toEqual(await before("tools/call", add));
    expect(JSON.parse(await after("tools/list")).result.tools.map(({ name }: { name: string }) => name)).toEqual([
      "add",
      "job",
    ]);
    const created = JSON.parse(await after("tools/call", { name: "job", arguments: {} })).result;
    expect(created).toMatchObject({ resultType: "task", status: "working" });
    expect(created).not.toHaveProperty("content");
    backend.of().succeed({ files: 14 });
    await backend.events.settled();
    expect(JSON.parse(await after("tasks/get", { taskId: created.taskId })).result).toMatchObject({
      status: "completed",
      result: { isError: false },
    });
  });
});
