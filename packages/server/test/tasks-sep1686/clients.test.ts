import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/server";
import * as z from "zod";
import { job, yes } from "../rev-2025/task-calls.ts";
import { eventually, inTime, type ServeOptions, serve, start, stopAll } from "../serve.ts";
import { related, wires } from "./sep1686-session.ts";

afterEach(stopAll);

const anyResult = z.looseObject({});
const options: ServeOptions = { wires, tools: [{ ...job, task: { pollIntervalMs: 50 } }] };

/** The first SDK's client, whose user agrees to everything. */
const connect = async (how: "HTTP" | "stdio") => {
  const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  const asked: unknown[] = [];
  const created: unknown[] = [];
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params._meta);
    return { action: "accept" as const, content: { ok: true } };
  });
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === "notifications/tasks/created") created.push(params?._meta);
  };
  const served = await (how === "HTTP" ? serve(options) : start(options));
  if ("url" in served) {
    await client.connect(new StreamableHTTPClientTransport(new URL(String(served.url))) as never);
  } else {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    void served.server.serveStdio({ transport: theirs as unknown as Transport });
    await client.connect(mine);
  }
  const send = (method: string, params: object) => client.request({ method, params } as never, anyResult);
  const call = (taskId: string, more: { readonly signal?: AbortSignal; readonly timeout?: number } = {}) =>
    client.request(
      {
        method: "tools/call",
        params: { name: "job", arguments: {}, _meta: { "modelcontextprotocol.io/task": { taskId } } },
      },
      CallToolResultSchema,
      { timeout: 2_147_483_647, ...more },
    );
  const statusOf = async (taskId: string) => (await send("tasks/get", { taskId, _meta: related(taskId) })).status;
  return { ...served, client, asked, created, send, call, statusOf };
};

describe.each(["HTTP", "stdio"] as const)("the first SDK's client over %s", (how) => {
  test("[M-9] [M-12] is told of its task, polls it, and gets the answer of its call", async () => {
    const { backend, created, call, send, statusOf, client } = await connect(how);
    const answer = call("c-1");
    await eventually(() => created.length === 1);
    expect(created).toEqual([related("c-1")]);
    expect(await statusOf("c-1")).toBe("working");
    backend.of().succeed("done");
    const { content, isError, _meta } = await inTime(answer);
    expect({ content, isError, _meta }).toMatchObject({ content: [{ text: '"done"' }], isError: false });
    expect(_meta).toMatchObject(related("c-1"));
    expect(await statusOf("c-1")).toBe("completed");
    expect(await send("tasks/result", { taskId: "c-1" })).toMatchObject({ content });
    expect(await send("tasks/list", {})).toMatchObject({ tasks: [{ taskId: "c-1", status: "completed" }] });
    expect(await send("tasks/delete", { taskId: "c-1" })).toEqual({ _meta: related("c-1") });
    await expect(statusOf("c-1")).rejects.toMatchObject({ code: -32_602 });
    await expect(call("c-1")).rejects.toMatchObject({
      message: expect.stringContaining("Task ID already exists: c-1"),
    });
    await expect(send("tasks/cancel", { taskId: "c-1" })).rejects.toMatchObject({ code: -32_602 });
    await client.close();
  });

  test("[M-13] has its user asked while it waits", async () => {
    const { backend, created, asked, call, client } = await connect(how);
    const answer = call("c-1");
    await eventually(() => created.length === 1);
    backend.of().ask({ message: "Sure?", schema: yes });
    await eventually(() => backend.of().answers.length === 1);
    expect(asked).toMatchObject([related("c-1")]);
    backend.of().succeed("done");
    expect(await inTime(answer)).toMatchObject({ isError: false });
    await client.close();
  });

  test("[M-14] cancels its task by giving its call up", async () => {
    const { backend, created, call, statusOf, client } = await connect(how);
    const giveUp = new AbortController();
    const answer = call("c-1", { signal: giveUp.signal });
    await eventually(() => created.length === 1);
    giveUp.abort("the user has changed their mind");
    await expect(answer).rejects.toThrow();
    await eventually(async () => (await statusOf("c-1")) === "cancelled");
    await eventually(() => backend.of().cancels.length === 1);
    await client.close();
  });

  test("[M-14] case 13: whose own timeout passes has a task that goes on", async () => {
    const { backend, created, call, statusOf, send, client } = await connect(how);
    const answer = call("c-1", { timeout: 300 });
    await expect(inTime(answer)).rejects.toThrow("timed out");
    expect(created).toHaveLength(1);
    expect(await statusOf("c-1")).toBe("working");
    backend.of().succeed("done");
    await eventually(async () => (await statusOf("c-1")) === "completed");
    expect(await send("tasks/result", { taskId: "c-1" })).toMatchObject({ content: [{ text: '"done"' }] });
    expect(backend.of().cancels).toEqual([]);
    await client.close();
  });
});

test("[M-12] a stop of the server answers no call of stdio, and cancels no task", async () => {
  const { server, backend, created, call } = await connect("stdio");
  const answer = call("c-1").then(
    () => "answered",
    (error: unknown) => String(error),
  );
  await eventually(() => created.length === 1);
  await inTime(server.close());
  expect(await inTime(answer)).toContain("Connection closed");
  expect(backend.of().cancels).toEqual([]);
  expect(backend.of().snapshot.status).toBe("running");
});
