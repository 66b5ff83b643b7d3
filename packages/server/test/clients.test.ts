import { afterEach, describe, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport as LegacyTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { InMemoryTransport, type Transport } from "@modelcontextprotocol/server";
import type { ToolDefinition } from "@taskbridge/core";
import { fetchHere } from "./fetch-here.ts";
import { eventually, inTime, type Served, type ServeOptions, serve, start, stopAll } from "./serve.ts";
import { transportDispatch } from "./transport-dispatch.ts";

afterEach(stopAll);

const clientInfo = { name: "host", version: "1" };
const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const output = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };

const tools: readonly ToolDefinition[] = [
  { name: "job", adapter: "fake", target: { run: "job" }, output, task: { pollIntervalMs: 50 } },
  { name: "ask", adapter: "fake", target: { run: "ask" }, task: { pollIntervalMs: 50 } },
  {
    name: "prepared",
    task: { pollIntervalMs: 50 },
    adapter: "fake",
    target: { run: "job" },
    prepare: (input: object, answers: Readonly<Record<string, { action: string }>>) =>
      answers.sure === undefined
        ? { questions: { sure: { message: "Sure?", schema: yes } } }
        : { input: { ...input, sure: answers.sure.action } },
  },
];
const options: ServeOptions = {
  tools,
  fake: {
    scripts: { ask: (run) => run.ask({ message: "Sure?", schema: yes }) },
    onAnswer: (run, { content }) => queueMicrotask(() => run.succeed({ answered: content ?? null })),
  },
};

/** The extension's client on the SDK's own transport. */
const openSession = async (transport: Transport) => {
  const clientCapabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
  const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode: "auto" } });
  await client.connect(transport as never);
  const session = createTaskSessionFromClient(client, {
    endpointId: "test",
    rawDispatch: transportDispatch(transport) as never,
    v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities } as never,
    onInputRequest: (async () => ({ action: "accept", content: { ok: true } })) as never,
  });
  return { client, session };
};

describe.each(["HTTP", "stdio"])("the official clients of the extension over %s", (how) => {
  const connect = async () => {
    if (how === "HTTP") {
      const { url, backend, server } = await serve(options);
      return {
        backend,
        server,
        ...(await openSession(
          new StreamableHTTPClientTransport(new URL(url), { fetch: fetchHere }) as unknown as Transport,
        )),
      };
    }
    const { server, backend } = await start(options);
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    void server.serveStdio({ transport: theirs });
    return { backend, server, ...(await openSession(mine)) };
  };

  test("case 15: call, poll and get the result", async () => {
    const { session, backend } = await connect();
    const execution = await session.callTool("job", {});
    expect(execution.kind).toBe("task");
    backend.of().succeed({ files: 14 });
    const { outcome } = await inTime(execution.settle());
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { files: 14 }, isError: false });
  });

  test("answer a question of a task", async () => {
    const { session } = await connect();
    const { outcome } = await inTime((await session.callTool("ask", {})).settle());
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: '{"answered":{"ok":true}}' }] });
  });

  test("answer a question before the task", async () => {
    const { session, backend } = await connect();
    const execution = await inTime(session.callTool("prepared", {}));
    expect(JSON.parse(backend.of().input)).toEqual({ sure: "accept" });
    backend.of().succeed("done");
    await inTime(execution.settle());
  });

  test("cancel", async () => {
    const { session, backend } = await connect();
    const execution = await session.callTool("job", {});
    await execution.cancel();
    await eventually(() => backend.of().cancels.length === 1);
    expect((await inTime(execution.settle())).outcome).toMatchObject({ status: "cancelled" });
  });

  test("[D-6] a host without the extension accepts a result and a handle of a tool with an output schema", async () => {
    const { client, backend } = await connect();
    await client.listTools();
    const handle = await inTime(callWithoutTasks(client));
    expect(handle).toMatchObject({ structuredContent: { taskStatus: "working" } });
    expect(backend.starts()).toBe(1);
  });
});

/** The SDK's client declares what it was made with, so the plain host is another client. */
const callWithoutTasks = async (client: Client): Promise<unknown> => {
  const dispatch = transportDispatch((client as unknown as { transport: Transport }).transport);
  const answer = await dispatch({
    method: "tools/call",
    params: {
      name: "job",
      arguments: {},
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": clientInfo,
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  });
  return answer.result;
};

/** What the clients of both SDKs have in common. */
interface AnyClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  /** SDK 1 takes a schema between request and options. */
  callTool(request: object, ...options: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

describe("[C-1] clients of earlier revisions", () => {
  const plainTools = [
    {
      name: "hello",
      inputSchema: { type: "object" },
      call: () => ({ content: [{ type: "text" as const, text: "hi" }] }),
    },
  ];
  const required: ToolDefinition = {
    name: "must",
    adapter: "fake",
    target: { run: "job" },
    output,
    task: { support: "required" },
  };

  test.each(["SDK 1 over HTTP", "SDK 1 over stdio", "SDK 2 over HTTP"])(
    "%s: plain tools, results, handles, progress",
    async (how) => {
      const served = await (how.endsWith("stdio") ? start : serve)({
        ...options,
        tools: [...tools, required],
        plainTools,
        wires: ["2026-07-28", "none"],
        waitMs: 20_000,
      });
      const { backend, server } = served;
      const isFirst = how.startsWith("SDK 1");
      const client = (isFirst ? new LegacyClient(clientInfo) : new Client(clientInfo)) as unknown as AnyClient;
      if (how.endsWith("stdio")) {
        const [mine, theirs] = LegacyTransport.createLinkedPair();
        void server.serveStdio({ transport: theirs as unknown as Transport });
        await client.connect(mine);
      } else {
        const url = new URL((served as Served).url);
        await client.connect(isFirst ? new LegacyHttpTransport(url) : new StreamableHTTPClientTransport(url));
      }
      const { tools: listed } = await client.listTools();
      expect(listed.map(({ name }) => name)).toEqual([
        ...["job", "ask", "prepared", "must", "hello"],
        ...["task_status", "task_result", "task_cancel"],
      ]);
      expect(await client.callTool({ name: "hello", arguments: {} })).toMatchObject({ content: [{ text: "hi" }] });
      const progress: unknown[] = [];
      const onprogress = (params: unknown) => void progress.push(params);
      const must = { name: "must", arguments: {} };
      const call = isFirst ? client.callTool(must, undefined, { onprogress }) : client.callTool(must, { onprogress });
      await eventually(() => backend.starts() === 1);
      backend.of().progress({ done: 1, total: 2 });
      await eventually(() => progress.length > 0);
      backend.of().succeed({ files: 3 });
      expect(await inTime(call)).toMatchObject({ structuredContent: { files: 3 } });
      expect(progress).toMatchObject([{ progress: 1, total: 2 }]);
      const handle = await inTime(client.callTool({ name: "ask", arguments: {} }));
      expect(handle).toMatchObject({ isError: false, structuredContent: { taskStatus: "input_required" } });
      expect(backend.callsOf("cancel")).toEqual([]);
      await client.close();
    },
  );

  test("case 13: a call that SDK 1 gives up by its own timeout goes on; one that is cancelled is stopped", async () => {
    const { server, backend } = await start({ ...options, waitMs: 20_000 });
    const client = new LegacyClient(clientInfo);
    const [mine, theirs] = LegacyTransport.createLinkedPair();
    void server.serveStdio({ transport: theirs as unknown as Transport });
    await client.connect(mine);
    await expect(client.callTool({ name: "job", arguments: {} }, undefined, { timeout: 100 })).rejects.toThrow(
      "timed out",
    );
    const leaving = new AbortController();
    const call = client
      .callTool({ name: "job", arguments: {} }, undefined, { signal: leaving.signal })
      .catch(() => "cancelled");
    await eventually(() => backend.starts() === 2);
    leaving.abort("the user has changed their mind");
    expect(await call).toBe("cancelled");
    await eventually(() => backend.executions[1]?.cancels.length === 1);
    const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 10);
    expect(tasks.map(({ record }) => record.cancel === undefined).sort()).toEqual([false, true]);
  });

  test("questions before the task reach a client that can ask its user", async () => {
    const { server, backend } = await start({ ...options, waitMs: 20 });
    const client = new LegacyClient(clientInfo, { capabilities: { elicitation: {} } });
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { ok: true } }));
    const [mine, theirs] = LegacyTransport.createLinkedPair();
    void server.serveStdio({ transport: theirs as unknown as Transport });
    await client.connect(mine);
    expect(await inTime(client.callTool({ name: "prepared", arguments: {} }))).toMatchObject({
      structuredContent: { taskStatus: "working" },
    });
    expect(JSON.parse(backend.of().input)).toEqual({ sure: "accept" });
  });
});
