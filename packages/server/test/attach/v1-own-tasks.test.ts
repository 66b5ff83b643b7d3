import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { type AttachOptions, attachTasks } from "../../src/index.ts";
import { type ServeOptions, start, stopAll } from "../serve.ts";
import { connectHttp, connectLinked, createClient, hangUp, serveSessions } from "./connect-v1.ts";
import { createHostV1 } from "./host-v1.ts";
import { ourFake, ourTools } from "./our-pipelines.ts";
import { outcomeOf } from "./own-calls.ts";

afterEach(hangUp);
afterEach(stopAll);

const stores: InMemoryTaskStore[] = [];
afterEach(() => {
  for (const store of stores.splice(0)) store.cleanup();
});

/** A host that keeps tasks of its own, by the SDK's experimental means. */
const createHost = (): McpServer => {
  const taskStore = new InMemoryTaskStore();
  stores.push(taskStore);
  const host = createHostV1({
    capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    taskStore,
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  });
  host.experimental.tasks.registerToolTask(
    "long",
    { inputSchema: { text: z.string() }, execution: { taskSupport: "optional" } },
    {
      createTask: async ({ text }, { taskStore: store, taskRequestedTtl }) => {
        const task = await store.createTask({ ttl: taskRequestedTtl ?? 60_000, pollInterval: 10 });
        const content = [{ type: "text" as const, text }];
        if (text !== "never") await store.storeTaskResult(task.taskId, "completed", { content });
        return { task };
      },
      getTask: (_args, { taskId, taskStore: store }) => store.getTask(taskId),
      getTaskResult: async (_args, { taskId, taskStore: store }) =>
        CallToolResultSchema.parse(await store.getTaskResult(taskId)),
    },
  );
  return host;
};

const attachTo = async (
  host: McpServer,
  options: AttachOptions = {},
  served: ServeOptions = {},
): Promise<McpServer> => {
  const { server } = await start({ tools: ourTools, fake: ourFake, ...served });
  attachTasks(host, server, options);
  return host;
};

const createTask = async (client: Client, name: string, args: object = {}): Promise<string> => {
  const params = { name, arguments: args, task: {} };
  const { task } = await client.request({ method: "tools/call", params }, z.looseObject({ task: z.looseObject({}) }));
  return String(task.taskId);
};

/** IDs and times differ from run to run. */
const same = (value: unknown, ...ids: readonly string[]): unknown => {
  let text = JSON.stringify(value ?? null).replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"');
  for (const [index, id] of ids.entries()) text = text.replaceAll(id, `id-${index}`);
  return JSON.parse(text);
};

const taskCalls = async (client: Client): Promise<unknown> => {
  const { tasks } = client.experimental;
  const { tools } = await client.listTools();
  const done = await createTask(client, "long", { text: "done" });
  const running = await createTask(client, "long", { text: "never" });
  const seen: unknown[] = [];
  for await (const message of tasks.callToolStream({ name: "long", arguments: { text: "streamed" } })) {
    seen.push(message.type === "result" ? message.result.content : message.type);
  }
  return same(
    {
      tool: tools.find(({ name }) => name === "long"),
      seen,
      withoutTask: await outcomeOf(client.callTool({ name: "long", arguments: { text: "plain" } })),
      badArguments: await outcomeOf(createTask(client, "long", { text: 1 })),
      running: await tasks.getTask(running),
      done: await tasks.getTask(done),
      result: await tasks.getTaskResult(done, CallToolResultSchema),
      cancelled: await tasks.cancelTask(running),
      cancelledTwice: await outcomeOf(tasks.cancelTask(running)),
      unknown: [
        await outcomeOf(tasks.getTask("nope")),
        await outcomeOf(tasks.getTaskResult("nope", CallToolResultSchema)),
        await outcomeOf(tasks.cancelTask("nope")),
        await outcomeOf(tasks.listTasks("nope")),
      ],
      waitEndedByCancel: await outcomeOf(tasks.getTaskResult(running, CallToolResultSchema)),
    },
    done,
    running,
  );
};

describe("tasks that an SDK v1 server keeps by itself", () => {
  test("are answered as before, over a linked pair", async () => {
    const before = createClient();
    await connectLinked(createHost(), before);
    const after = createClient();
    await connectLinked(await attachTo(createHost()), after);
    const expected = await taskCalls(before);
    expect(expected).toMatchObject({ result: { content: [{ text: "done" }] }, cancelled: { status: "cancelled" } });
    expect(await taskCalls(after)).toEqual(expected);
  });

  test("are answered as before, in HTTP sessions", async () => {
    const before = createClient();
    await connectHttp(await serveSessions(createHost), before);
    const host = await attachTo(createHost());
    const after = createClient();
    await connectHttp(await serveSessions(() => host), after);
    expect(await taskCalls(after)).toEqual(await taskCalls(before));
  });

  test("are listed first, then ours, page by page, each once", async () => {
    const client = createClient();
    await connectLinked(await attachTo(createHost(), {}, { limits: { maxConcurrentTasksPerOwner: 100 } }), client);
    const created: string[] = [];
    for (let index = 0; index < 12; index++) created.push(await createTask(client, "long", { text: "done" }));
    for (let index = 0; index < 55; index++) created.push(await createTask(client, "our-slow"));
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await client.experimental.tasks.listTasks(cursor);
      pages.push(page.tasks.map(({ taskId }) => taskId));
      cursor = page.nextCursor;
    } while (cursor !== undefined && pages.length < 20);
    expect(pages.map(({ length }) => length)).toEqual([10, 2, 50, 5]);
    expect([...pages.flat()].sort()).toEqual([...created].sort());
    expect([...pages.slice(0, 2).flat()].sort()).toEqual(created.slice(0, 12).sort());
    const bad = await outcomeOf(client.experimental.tasks.listTasks("taskbridge:nope"));
    expect(bad).toMatchObject({ code: -32_602 });
  });

  test("are all there is to list for callers who own none of ours", async () => {
    const client = createClient();
    const host = await attachTo(createHost(), { owners: "none" });
    await connectLinked(host, client);
    const own = await createTask(client, "long", { text: "done" });
    await createTask(client, "our-slow");
    const page = await client.experimental.tasks.listTasks();
    expect(page.tasks.map(({ taskId }) => taskId)).toEqual([own]);
    expect(page.nextCursor).toBeUndefined();
  });

  test("are untouched by ours, which go by their own IDs", async () => {
    const client = createClient();
    await connectLinked(await attachTo(createHost()), client);
    const { tasks } = client.experimental;
    const quick = await createTask(client, "our-quick");
    expect(await tasks.getTaskResult(quick, CallToolResultSchema)).toMatchObject({ content: [{ type: "text" }] });
    const slow = await createTask(client, "our-slow");
    expect(await tasks.cancelTask(slow)).toMatchObject({ status: "cancelled" });
    // Ours say what is wrong with an ID that is known; the host is not asked about it.
    expect(await outcomeOf(tasks.cancelTask(slow))).toMatchObject({
      code: -32_602,
      message: expect.not.stringMatching(/not found/),
    });
  });

  test("go on when the task server is stopped", async () => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const host = createHost();
    attachTasks(host, server);
    const client = createClient();
    await connectLinked(host, client);
    const slow = await createTask(client, "our-slow");
    await server.close();
    const own = await createTask(client, "long", { text: "done" });
    expect((await client.experimental.tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toEqual([own]);
    expect(await client.experimental.tasks.getTask(own)).toMatchObject({ status: "completed" });
    // "Not found" would be taken for the end of a task that goes on.
    for (const answer of [
      client.experimental.tasks.getTask(slow),
      client.experimental.tasks.getTaskResult(slow, CallToolResultSchema),
      client.experimental.tasks.cancelTask(slow),
    ]) {
      expect(await outcomeOf(answer)).toMatchObject({ code: -32_603, message: expect.stringContaining("was stopped") });
    }
  });
});
