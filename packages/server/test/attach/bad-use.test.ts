import { afterEach, describe, expect, test } from "@jest/globals";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, McpServer as McpServerV2, InMemoryTransport as PairV2 } from "@modelcontextprotocol/server";
import * as z from "zod";
import { attachTasks } from "../../src/index.ts";
import type { ServerLog } from "../../src/server-log.ts";
import { start, stopAll } from "../serve.ts";
import { connectLinked, createClient, hangUp } from "./connect-v1.ts";
import { callByFetch } from "./connect-v2.ts";
import { createHostV1 } from "./host-v1.ts";
import { createHostV2 } from "./host-v2.ts";
import { outcomeOf } from "./own-calls.ts";

afterEach(hangUp);
afterEach(stopAll);

/** What the servers of both SDKs have in common. */
interface Host {
  readonly server: object;
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
  registerTool(name: string, config: object, call: () => object): { remove(): void };
  registerResource(name: string, uri: string, config: object, read: () => object): unknown;
  registerPrompt(name: string, config: object, get: () => object): unknown;
}

const identity = { name: "new", version: "1" };
const hosts = {
  "SDK v1": {
    create: () => createHostV1() as unknown as Host,
    bare: () => new McpServerV1(identity) as unknown as Host,
  },
  "SDK v2": {
    create: () => createHostV2() as unknown as Host,
    bare: () => new McpServerV2(identity) as unknown as Host,
  },
};
const kinds = ["SDK v1", "SDK v2"] as const;
const transportOf = (kind: (typeof kinds)[number]): never =>
  (kind === "SDK v1" ? InMemoryTransport : PairV2).createLinkedPair()[0] as never;

const misconfigured = (...texts: readonly string[]) =>
  expect.objectContaining({
    code: "misconfigured",
    message: expect.stringMatching(new RegExp(["^attachTasks: ", ...texts].join(".*"))),
  });

describe("what cannot be attached says why, and what to do", () => {
  test.each(kinds)("a server twice: %s", async (kind) => {
    const { server } = await start();
    const { server: second } = await start();
    const host = hosts[kind].create();
    attachTasks(host, server);
    expect(() => attachTasks(host, server)).toThrow(misconfigured("already"));
    expect(() => attachTasks(host.server as never, second)).toThrow(misconfigured("already"));
  });

  test.each(kinds)("a server that is connected: %s", async (kind) => {
    const { server } = await start();
    const host = hosts[kind].create();
    await host.connect(transportOf(kind));
    expect(() => attachTasks(host, server)).toThrow(misconfigured("connected already", "before connect\\(\\)"));
    await host.close();
    attachTasks(host, server);
    await host.connect(transportOf(kind));
    await host.close();
  });

  test.each([undefined, null, 1, "server", {}, { server: {} }, { server: { _requestHandlers: {} } }])(
    "%p",
    async (host) => {
      const { server } = await start();
      expect(() => attachTasks(host as never, server)).toThrow(
        misconfigured("McpServer or Server", "sdk 1.x", "server 2.x"),
      );
    },
  );

  test.each([undefined, null, {}, { engine: {} }])("pipelines of %p", (tasks) => {
    expect(() => attachTasks(createHostV1(), tasks as never)).toThrow(misconfigured("createTaskServer\\(\\)"));
  });

  test("an SDK that lacks what is needed before the first tool", async () => {
    const { server } = await start();
    const host = Object.assign(new McpServerV1({ name: "old", version: "1" }), { setToolRequestHandlers: undefined });
    expect(() => attachTasks(host, server)).toThrow(misconfigured("first tool", "capabilities: \\{ tools: \\{\\} \\}"));
  });

  test.each(kinds)("a tool whose name is taken: %s", async (kind) => {
    const { server } = await start({ tools: [{ name: "add", adapter: "fake", target: { run: "job" } }] });
    expect(() => attachTasks(hosts[kind].create(), server)).toThrow(misconfigured('"add"', "both sides", "rename"));
  });
});

describe("what comes after attaching", () => {
  test.each(kinds)("may be the first tool, prompt and resource: %s", async (kind) => {
    const { server } = await start();
    const host = hosts[kind].bare();
    attachTasks(host, server);
    host.registerTool("later", {}, () => ({ content: [] }));
    host.registerResource("later", "file:///later", {}, () => ({ contents: [] }));
    host.registerPrompt("later", {}, () => ({ messages: [] }));
    const client = createClient();
    await connectLinked(host, client);
    expect((await client.listTools()).tools.map(({ name }) => name).slice(0, 2)).toEqual(["later", "job"]);
    expect((await client.listResources()).resources).toMatchObject([{ uri: "file:///later" }]);
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: "later" }]);
    expect(await client.readResource({ uri: "file:///later" })).toEqual({ contents: [] });
  });

  test.each(kinds)("a taken name is refused when the server is connected: %s", async (kind) => {
    const { server } = await start();
    const host = hosts[kind].create();
    attachTasks(host, server);
    const tool = host.registerTool("job", {}, () => ({ content: [] }));
    await expect(host.connect(transportOf(kind))).rejects.toEqual(misconfigured('"job"', "rename"));
    tool.remove();
    await host.connect(transportOf(kind));
    await host.close();
  });

  test("a name that is taken once clients are there hides the host's tool, and is told once", async () => {
    const warnings: unknown[] = [];
    const quiet = (): void => {};
    const warn: ServerLog["warn"] = (fields, message) => void warnings.push([fields, message]);
    const { server, backend } = await start({ log: { debug: quiet, info: quiet, warn, error: quiet } });
    const host = createHostV1();
    attachTasks(host, server);
    const client = createClient();
    await connectLinked(host, client);
    host.registerTool("job", { description: "the host's" }, () => ({ content: [] }));
    for (let time = 0; time < 2; time++) {
      const named = (await client.listTools()).tools.filter(({ name }) => name === "job");
      expect(named).toMatchObject([{ execution: { taskSupport: "optional" } }]);
    }
    await client.callTool({ name: "job", arguments: {} });
    expect(backend.starts()).toBe(1);
    expect(warnings).toEqual([[{ tool: "job" }, expect.stringContaining("rename")]]);
  });

  test("handlers that the host replaces are noticed when the server is connected", async () => {
    const { server } = await start();
    const v1 = createHostV1();
    attachTasks(v1, server);
    v1.server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
    await expect(v1.connect(transportOf("SDK v1"))).rejects.toEqual(misconfigured("tools/call", "attach last"));
    const low = new ServerV1({ name: "low", version: "1" }, { capabilities: { tools: {} } });
    attachTasks(low, server);
    low.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
    await expect(low.connect(transportOf("SDK v1"))).rejects.toEqual(misconfigured("tools/call", "attach last"));
    const replaced = createMcpHandler(() => {
      const v2 = createHostV2();
      attachTasks(v2, server);
      v2.server.setRequestHandler("tools/list", () => ({ tools: [] }));
      return v2;
    });
    expect(await callByFetch(replaced.fetch)("tools/list")).toMatchObject([{ error: { code: -32_603 } }]);
  });
});

describe("[B-2] [B-22] a call of the host's own tool with a task", () => {
  const call = { name: "add", arguments: { a: 1, b: 2 }, task: {} };
  const three = { content: [{ type: "text", text: "3" }] };
  const any = z.looseObject({});

  test.each(kinds)("is refused on 2025-11-25, without the tool being run: %s", async (kind) => {
    const { server } = await start();
    const host = hosts[kind].create();
    let runs = 0;
    host.registerTool("counted", {}, () => ({ content: [{ type: "text", text: String(++runs) }] }));
    attachTasks(host, server);
    const client = createClient();
    await connectLinked(host, client);
    for (const params of [call, { name: "counted", task: {} }, { name: "counted", task: { ttl: 1 } }]) {
      expect(await outcomeOf(client.request({ method: "tools/call", params }, any))).toMatchObject({
        code: -32_601,
        message: expect.stringContaining("cannot be called as a task"),
      });
    }
    expect(runs).toBe(0);
    const plain = { method: "tools/call", params: { ...call, task: undefined } } as const;
    expect(await client.request(plain, any)).toEqual(three);
  });

  test.each(kinds)("is answered on 2025-06-18, which knows no task: %s", async (kind) => {
    const { server } = await start({ waitMs: 0 });
    const host = hosts[kind].create();
    attachTasks(host, server);
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    await host.connect(theirs as never);
    const answers = new Map<unknown, (message: object) => void>();
    mine.onmessage = (message) => answers.get("id" in message ? message.id : undefined)?.(message);
    await mine.start();
    let ids = 0;
    const request = (method: string, params: object): Promise<object> => {
      const id = ++ids;
      const answer = new Promise<object>((resolve) => answers.set(id, resolve));
      void mine.send({ jsonrpc: "2.0", id, method, params: { ...params } });
      return answer;
    };
    const clientInfo = { name: "old", version: "1" };
    await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    expect(await request("tools/call", call)).toMatchObject({ result: three });
    expect(await request("tools/call", { name: "job", arguments: {}, task: {} })).toMatchObject({
      result: { isError: false, content: expect.any(Array) },
    });
    expect(await request("tools/list", {})).toMatchObject({
      result: {
        tools: expect.not.arrayContaining([expect.objectContaining({ name: "job", execution: expect.anything() })]),
      },
    });
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"]) {
      expect(await request(method, { taskId: "x" })).toMatchObject({ error: { code: -32_601 } });
    }
  });

  test("is answered on 2026-07-28, where it means nothing", async () => {
    const { server } = await start();
    const { fetch } = createMcpHandler(() => {
      const host = createHostV2();
      attachTasks(host, server);
      return host;
    });
    expect(await callByFetch(fetch)("tools/call", call)).toMatchObject([{ result: three }]);
    // Marked for both revisions: that of the request decides.
    const ours = { name: "job", arguments: {}, task: {} };
    expect(await callByFetch(fetch)("tools/call", ours)).toMatchObject([{ result: { resultType: "task" } }]);
  });

  test("[B-3] of a pipeline that is marked for two generations is refused on 2025-11-25", async () => {
    const { server, backend } = await start();
    const host = createHostV1();
    attachTasks(host, server);
    const client = createClient();
    await connectLinked(host, client);
    const params = { name: "job", task: {}, _meta: { "modelcontextprotocol.io/task": { taskId: "mine" } } };
    expect(await outcomeOf(client.request({ method: "tools/call", params }, any))).toMatchObject({ code: -32_602 });
    // A declaration of the extension is of another revision, and does not turn the session into one of it.
    const declared = {
      "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
    };
    const both = { name: "job", arguments: {}, task: {}, _meta: declared };
    expect(await client.request({ method: "tools/call", params: both }, any)).toMatchObject({
      task: { status: "working" },
    });
    expect(backend.starts()).toBe(1);
  });
});
