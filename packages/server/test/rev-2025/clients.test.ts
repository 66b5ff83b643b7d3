import { afterEach, describe, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/server";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import type { FakeBackend } from "@taskbridge/testkit/adapter";
import * as z from "zod";
import { fetchHere } from "../fetch-here.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type ServeOptions, serve, start, stopAll } from "../serve.ts";
import { callForTask, form, job, yes } from "./task-calls.ts";

afterEach(stopAll);

const clientInfo = { name: "host", version: "1" };
const anyResult = z.looseObject({});
const accepted = { action: "accept" as const, content: { ok: true } };

const options: ServeOptions = {
  tools: [
    { ...job, task: { pollIntervalMs: 50 } },
    { name: "ask", adapter: "fake", target: { run: "ask" }, task: { pollIntervalMs: 50 } },
  ],
  fake: {
    scripts: { ask: (run) => run.ask({ message: "Sure?", schema: yes }) },
    onAnswer: (run, { content }) => queueMicrotask(() => run.succeed({ answered: content ?? null })),
  },
};

/** How a task came out for its client. */
interface Outcome {
  readonly status: "completed" | "failed" | "cancelled";
  /** What the client has of the result or its error. */
  readonly reported: string;
}

/** A host on one of the official clients. */
interface Host {
  readonly backend: FakeBackend;
  /** How often its user was asked. */
  asked(): number;
  /** Calls a tool as a task and waits for its end. `begun`: the task is there; gives how to cancel it. */
  run(name: string, begun?: (cancel: () => Promise<unknown>) => void): Promise<Outcome>;
  close(): Promise<void>;
}

const openFirst = async (how: "HTTP" | "stdio"): Promise<Host> => {
  const client = new FirstClient(clientInfo, { capabilities: { elicitation: { form: {} } } });
  let asked = 0;
  client.setRequestHandler(ElicitRequestSchema, async () => {
    asked++;
    return accepted;
  });
  const served = await (how === "HTTP" ? serve(options) : start(options));
  if ("url" in served) {
    await client.connect(new FirstHttpTransport(new URL(String(served.url)), { fetch: fetchHere }) as never);
  } else {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    void served.server.serveStdio({ transport: theirs as unknown as Transport });
    await client.connect(mine);
  }
  await client.listTools();
  return {
    backend: served.backend,
    asked: () => asked,
    run: async (name, begun) => {
      let latest = "";
      for await (const message of client.experimental.tasks.callToolStream(
        { name, arguments: {} },
        CallToolResultSchema,
      )) {
        if (message.type === "taskCreated") {
          const { taskId } = message.task;
          begun?.(() => client.experimental.tasks.cancelTask(taskId));
        }
        if (message.type === "taskStatus") latest = message.task.statusMessage ?? "";
        if (message.type === "result") return { status: "completed", reported: JSON.stringify(message.result) };
        if (message.type === "error") {
          const status = message.error.message.includes("cancelled") ? "cancelled" : "failed";
          return { status, reported: latest };
        }
      }
      throw new Error("the stream has ended without an end of the task");
    },
    close: () => client.close(),
  };
};

/** The client of the second SDK, held to the earlier handshake. */
const connectSecond = async () => {
  const { url, backend } = await serve(options);
  const client = new Client(clientInfo, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: "legacy" },
  });
  return { backend, client, transport: new StreamableHTTPClientTransport(new URL(url), { fetch: fetchHere }) };
};

const openExtension = async (): Promise<Host> => {
  const { backend, client, transport } = await connectSecond();
  await client.connect(transport);
  let asked = 0;
  const session = createTaskSessionFromClient(client, {
    endpointId: "test",
    onInputRequest: (async () => {
      asked++;
      return accepted;
    }) as never,
  });
  return {
    backend,
    asked: () => asked,
    run: async (name, begun) => {
      const execution = await session.callTool(name, {}, { task: { preference: "prefer" } });
      expect(execution.kind).toBe("task");
      begun?.(() => execution.cancel());
      const { outcome } = await execution.settle();
      if (outcome.status === "completed") {
        return { status: "completed", reported: JSON.stringify(resultFromTaskOutcome(outcome)) };
      }
      return { status: outcome.status as Outcome["status"], reported: JSON.stringify(outcome) };
    },
    close: () => client.close(),
  };
};

const openByHand = async (): Promise<Host> => {
  const { backend, client, transport } = await connectSecond();
  let asked = 0;
  client.setRequestHandler("elicitation/create", async () => {
    asked++;
    return accepted;
  });
  await client.connect(transport);
  return {
    backend,
    asked: () => asked,
    run: async (name, begun) => {
      const params = { name, arguments: {}, task: {} };
      const { task } = await client.request(
        { method: "tools/call", params },
        z.looseObject({ task: z.looseObject({ taskId: z.string() }) }),
      );
      const { taskId } = task;
      begun?.(() => client.request({ method: "tasks/cancel", params: { taskId } }, anyResult));
      const result = client
        .request({ method: "tasks/result", params: { taskId } }, anyResult)
        .then(JSON.stringify, (error: Error) => error.message);
      const reported = await result;
      const { status } = await client.request({ method: "tasks/get", params: { taskId } }, anyResult);
      return { status: status as Outcome["status"], reported };
    },
    close: () => client.close(),
  };
};

describe.each<[string, () => Promise<Host>]>([
  ["the first SDK's callToolStream over HTTP", () => openFirst("HTTP")],
  ["the first SDK's callToolStream over stdio", () => openFirst("stdio")],
  ["the extension's session on the second SDK", openExtension],
  ["the second SDK's client by hand", openByHand],
])("case 16: %s", (_name, open) => {
  test("takes the handle, and runs a pipeline that asks to its end", async () => {
    const host = await open();
    const { status, reported } = await inTime(host.run("ask"));
    expect(status).toBe("completed");
    expect(reported).toContain(String.raw`{\"answered\":{\"ok\":true}}`);
    expect(host.asked()).toBe(1);
    expect(host.backend.starts()).toBe(1);
    await host.close();
  });

  test("cancels", async () => {
    const host = await open();
    const run = host.run("job", (cancel) => void cancel());
    expect(await inTime(run)).toMatchObject({ status: "cancelled" });
    await eventually(() => host.backend.of().cancels.length === 1);
    await host.close();
  });

  test("case 17: is told why a pipeline has failed", async () => {
    const host = await open();
    const { status, reported } = await inTime(host.run("job", () => host.backend.of().fail("exit code 2")));
    expect(status).toBe("failed");
    expect(reported).toContain("exit code 2");
    await host.close();
  });
});

test("case 23: a client that makes no tasks calls the same tools and gets their results", async () => {
  const { url, backend } = await serve({ ...options, waitMs: 20_000 });
  const client = new FirstClient(clientInfo);
  await client.connect(new FirstHttpTransport(new URL(url)) as never);
  const { tools } = await client.listTools();
  expect(tools.map(({ execution }) => execution?.taskSupport)).toEqual([
    ...["optional", "optional"],
    // The companions.
    ...["forbidden", "forbidden", "forbidden"],
  ]);
  const call = client.callTool({ name: "job", arguments: {} });
  await eventually(() => backend.starts() === 1);
  backend.of().succeed({ files: 3 });
  expect(await inTime(call)).toMatchObject({ content: [{ text: '{"files":3}' }] });
  await client.close();
});

describe("case 20: a client that never fetches the result of a task that asks", () => {
  const open = async () => {
    const clock = fakeClock();
    const tools = [{ ...job, task: { ...job.task, questionTimeoutMs: 600_000, retentionMs: 3_600_000 } }];
    const onAnswer: NonNullable<ServeOptions["fake"]>["onAnswer"] = (run, { action }) => {
      queueMicrotask(() => run.succeed({ action }));
    };
    const served = await serve({ tools, clock, store: memoryStore({ clock }), fake: { clock, onAnswer } });
    const rpc = await rpc2025(served.url, { capabilities: form });
    const taskId = await callForTask(rpc);
    served.backend.of().ask({ message: "Sure?", schema: yes });
    await served.backend.events.settled();
    const task = async () => (await rpc.request("tasks/get", { taskId })).result;
    return { ...served, clock, rpc, taskId, task };
  };

  test("is asked on its own stream", async () => {
    const { rpc, task } = await open();
    expect(await task()).toMatchObject({ status: "input_required" });
    const listening = await rpc.listen();
    const { id } = await listening.find(({ method }) => method === "elicitation/create");
    await rpc.send({ id, result: accepted });
    await eventually(async () => (await task()).status === "completed");
  });

  test("and has no stream leaves nothing behind: the question is dismissed in time, and the task ends", async () => {
    const { clock, task, taskId, server, rpc } = await open();
    await clock.advance(599_000);
    expect(await task()).toMatchObject({ status: "input_required" });
    await clock.advance(2_000);
    await eventually(async () => (await task()).status === "completed");
    expect((await rpc.request("tasks/result", { taskId })).result).toMatchObject({
      content: [{ text: '{"action":"cancel"}' }],
    });
    await rpc.end();
    await clock.advance(2 * 3_600_000);
    await expect(server.engine.readTask(taskId, { operator: true })).rejects.toThrow();
    await inTime(server.close());
  });
});
