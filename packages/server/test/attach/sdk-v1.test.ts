import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { attachTasks } from "../../src/index.ts";
import { eventually, type ServeOptions, start, stopAll } from "../serve.ts";

afterEach(stopAll);

const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 20 } }];

const createHost = (): McpServer => {
  const host = new McpServer({ name: "host", version: "1.0.0" });
  host.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  host.registerPrompt("greet", {}, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Hello" } }],
  }));
  host.registerResource("readme", "file:///readme", {}, () => ({
    contents: [{ uri: "file:///readme", text: "Read me." }],
  }));
  return host;
};

const connect = async (host: McpServer, capabilities: object = {}): Promise<Client> => {
  const client = new Client({ name: "client", version: "1" }, { capabilities });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await host.connect(theirs as never);
  await client.connect(mine as never);
  return client;
};

/** Everything that the host does for itself. */
const hostCalls = async (client: Client): Promise<unknown> => ({
  add: await client.callTool({ name: "add", arguments: { a: 1, b: 2 } }),
  bad: await client.callTool({ name: "add", arguments: { a: "x" } }),
  prompts: await client.listPrompts(),
  prompt: await client.getPrompt({ name: "greet" }),
  resources: await client.listResources(),
  resource: await client.readResource({ uri: "file:///readme" }),
});

const attachTo = async (host: McpServer, options: ServeOptions = {}) => {
  const started = await start({ tools, ...options });
  attachTasks(host, started.server);
  return started;
};

describe("an SDK v1 server", () => {
  test("answers for itself as before", async () => {
    const before = await hostCalls(await connect(createHost()));
    const host = createHost();
    await attachTo(host);
    const client = await connect(host);
    expect(await hostCalls(client)).toEqual(before);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "job"]);
  });

  test("runs a pipeline with a question as a task", async () => {
    const host = createHost();
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const { backend } = await attachTo(host, { fake: { onStart: (run) => run.ask({ message: "Sure?", schema }) } });
    const client = await connect(host, { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { ok: true } }));
    const seen: string[] = [];
    const call = async (): Promise<void> => {
      const stream = client.experimental.tasks.callToolStream({ name: "job", arguments: {} }, CallToolResultSchema, {
        task: {},
      });
      for await (const message of stream)
        seen.push(message.type === "result" ? JSON.stringify(message.result) : message.type);
    };
    const called = call();
    await eventually(() => backend.starts() === 1 && backend.of().answers.length === 1);
    backend.of().succeed({ files: 14 });
    await called;
    expect(seen[0]).toBe("taskCreated");
    expect(seen.at(-1)).toContain("files");
  });
});
