import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, type McpServer } from "@modelcontextprotocol/server";
import { attachTasks, type TaskServer } from "../../src/index.ts";
import { eventually, start, stopAll } from "../serve.ts";
import { connectLinked, createClient, hangUp } from "./connect-v1.ts";
import { type Call2026, callByFetch, connectFetch, connectPipe, openPipe, serveSessionsV2 } from "./connect-v2.ts";
import { createHostV2 } from "./host-v2.ts";
import { ourFake, ourTools } from "./our-pipelines.ts";
import { answerHost, ownCalls } from "./own-calls.ts";

afterEach(hangUp);
afterEach(stopAll);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const hostMaker = (tasks: TaskServer | undefined) => (): McpServer => {
  const host = createHostV2();
  if (tasks !== undefined) attachTasks(host, tasks);
  host.registerTool("later", {}, () => ({ content: [{ type: "text", text: "later" }] }));
  return host;
};

const call = (name: string, args: object = {}, more: object = {}): [string, Record<string, unknown>] => [
  "tools/call",
  { name, arguments: { ...args }, ...more },
];
const responses = { who: { action: "accept", content: { name: "Ada" } } };
const complete = (ref: object, name: string, value: string): [string, Record<string, unknown>] => [
  "completion/complete",
  { ref, argument: { name, value } },
];

/** What a client of 2026-07-28 can ask of the host. */
const requests: readonly (readonly [string, Record<string, unknown>?, object?])[] = [
  call("add", { a: 1, b: 2 }),
  call("add", { a: "x" }),
  [...call("add", { a: 1, b: 2 }, { task: {} })],
  call("count", { words: ["a", "b"] }),
  call("wrong-output"),
  call("fails"),
  call("nope"),
  ["tools/call", { arguments: {} }],
  [...call("steps"), { meta: { progressToken: "p", "io.modelcontextprotocol/logLevel": "debug" } }],
  [...call("asks"), { capabilities: { elicitation: { form: {} } } }],
  call("asks"),
  [
    ...call("asks", {}, { inputResponses: responses, requestState: "host-state" }),
    { capabilities: { elicitation: { form: {} } } },
  ],
  call("regional", { region: "eu" }),
  [...call("regional", { region: "eu" }), { headers: { "mcp-param-region": "eu" } }],
  call("later"),
  ["prompts/list"],
  ["prompts/get", { name: "greet", arguments: { name: "Ada" } }],
  ["prompts/get", { name: "nope" }],
  ["resources/list"],
  ["resources/read", { uri: "file:///readme" }],
  ["resources/read", { uri: "note://7" }],
  ["resources/read", { uri: "file:///nope" }],
  complete({ type: "ref/prompt", name: "greet" }, "name", "A"),
  complete({ type: "ref/resource", uri: "note://{id}" }, "id", "1"),
  ["nope/nope"],
];

const calls2026 = async (send: Call2026): Promise<readonly unknown[]> => {
  const answers: unknown[] = [];
  for (const [method, params, options] of requests) answers.push(await send(method, params, options));
  return answers;
};

const modern: Readonly<Record<string, (makeHost: () => McpServer) => Promise<Call2026>>> = {
  HTTP: async (makeHost) => callByFetch(createMcpHandler(makeHost).fetch),
  stdio: async (makeHost) => {
    const pipe = await openPipe(makeHost);
    closing.push(pipe.close);
    return pipe.call;
  },
};

const legacy: Readonly<Record<string, (makeHost: () => McpServer, client: Client) => Promise<void>>> = {
  "HTTP without sessions": (makeHost, client) => connectFetch(createMcpHandler(makeHost).fetch, client),
  "HTTP sessions": (makeHost, client) => connectFetch(serveSessionsV2(makeHost), client),
  stdio: async (makeHost, client) => void closing.push(await connectPipe(makeHost, client)),
};

describe("what an SDK v2 server does by itself", () => {
  test.each(Object.keys(modern))("stays as it is on 2026-07-28, over %s", async (connection) => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const before = await modern[connection]?.(hostMaker(undefined));
    const after = await modern[connection]?.(hostMaker(server));
    if (before === undefined || after === undefined) throw new Error("no connection");
    const expected = await calls2026(before);
    expect(expected[0]).toMatchObject([{ result: { content: [{ text: "3" }] } }]);
    expect(expected[8]).toHaveLength(5);
    expect(expected[9]).toMatchObject([{ result: { resultType: "input_required" } }]);
    expect(expected[10]).toMatchObject([{ error: { code: -32_021 } }]);
    expect(await calls2026(after)).toEqual(expected);
    const [own] = await before("tools/list");
    const [both] = await after("tools/list");
    const tools = ((both?.result?.tools ?? []) as { name: string }[]).filter(({ name }) => !name.startsWith("our-"));
    expect({ ...both?.result, tools }).toEqual(own?.result);
    expect(both?.result?.tools).toHaveLength(tools.length + 5);
    const discovered = (await after("server/discover"))[0]?.result;
    expect(discovered).toMatchObject({ capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } });
    expect(discovered?.capabilities).not.toHaveProperty("tasks");
  });

  test("also for tools that come, change and go once a client is connected", async () => {
    const { server } = await start({ tools: ourTools });
    const host = createHostV2();
    attachTasks(host, server);
    const client = createClient();
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await connectLinked(host, client);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const first = await names();
    const later = host.registerTool("later", {}, () => ({ content: [{ type: "text", text: "later" }] }));
    await eventually(() => changes === 1);
    expect(new Set(await names())).toEqual(new Set([...first, "later"]));
    expect(await client.callTool({ name: "later", arguments: {} })).toMatchObject({ content: [{ text: "later" }] });
    later.disable();
    await eventually(() => changes === 2);
    expect(await names()).toEqual(first);
    later.remove();
    await eventually(() => changes === 3);
    expect(await names()).toEqual(first);
  });

  test.each(Object.keys(legacy))("stays as it is for earlier revisions, over %s", async (connection) => {
    const { server } = await start({ tools: ourTools, fake: ourFake });
    const answers = async (tasks: TaskServer | undefined): Promise<unknown> => {
      const client = createClient({ elicitation: {} });
      answerHost(client);
      await legacy[connection]?.(hostMaker(tasks), client);
      return ownCalls(client, { canAsk: !connection.includes("without") });
    };
    const before = await answers(undefined);
    expect(before).toMatchObject({ good: { content: [{ text: "3" }] }, progress: [{ progress: 1 }, { progress: 2 }] });
    expect(await answers(server)).toEqual(before);
  });
});
