import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { attachTasks } from "../../src/index.ts";
import { eventually, start, stopAll } from "../serve.ts";
import {
  connectHttp,
  connectLinked,
  connectStdio,
  createClient,
  hangUp,
  serveSessions,
  serveStateless,
} from "./connect-v1.ts";
import { createHostV1 } from "./host-v1.ts";
import { ourFake, ourTools } from "./our-pipelines.ts";
import { answerHost, ownCalls } from "./own-calls.ts";

afterEach(hangUp);
afterEach(stopAll);

type Connect = (client: Client, makeHost: () => ReturnType<typeof createHostV1>, isAttached: boolean) => Promise<void>;

const connections: Readonly<Record<string, Connect>> = {
  "a linked pair": (client, makeHost) => connectLinked(makeHost(), client),
  "stdio, in a process of its own": (client, _makeHost, isAttached) => connectStdio(isAttached, client),
  "HTTP sessions": async (client, makeHost) => connectHttp(await serveSessions(makeHost), client),
  "HTTP without sessions": async (client, makeHost) => connectHttp(await serveStateless(makeHost), client),
};

const answersOver = async (connection: string, isAttached: boolean): Promise<unknown> => {
  const { server } = await start({ tools: ourTools, fake: ourFake });
  const makeHost = () => {
    const host = createHostV1();
    if (isAttached) attachTasks(host, server);
    return host;
  };
  const client = createClient({ elicitation: {} });
  answerHost(client);
  await connections[connection]?.(client, makeHost, isAttached);
  const isOurs = (await client.listTools()).tools.some(({ name }) => name === "our-quick");
  expect(isOurs).toBe(isAttached);
  // Without a session there is no way back to whoever asked.
  return ownCalls(client, { canAsk: !connection.includes("without") });
};

describe("what an SDK v1 server does by itself", () => {
  test.each(Object.keys(connections))("stays as it is over %s", async (connection) => {
    const before = await answersOver(connection, false);
    expect(before).toMatchObject({ good: { content: [{ text: "3" }] }, progress: [{ progress: 1 }, { progress: 2 }] });
    expect(await answersOver(connection, true)).toEqual(before);
  });

  test("also for tools that come, change and go once a client is connected", async () => {
    const { server } = await start({ tools: ourTools });
    const host = createHostV1();
    attachTasks(host, server);
    const client = createClient();
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await connectLinked(host, client);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const first = await names();
    const later = host.registerTool("later", {}, () => ({ content: [{ type: "text", text: "later" }] }));
    await eventually(() => changes === 1);
    expect(await names()).toEqual([...first.slice(0, 6), "later", ...first.slice(6)]);
    expect(await client.callTool({ name: "later", arguments: {} })).toEqual({
      content: [{ type: "text", text: "later" }],
    });
    later.disable();
    await eventually(() => changes === 2);
    expect(await names()).toEqual(first);
    later.enable();
    later.remove();
    await eventually(() => changes === 4);
    expect(await names()).toEqual(first);
    host.registerPrompt("more", {}, () => ({ messages: [] }));
    host.registerResource("more", "file:///more", {}, () => ({ contents: [] }));
    expect((await client.listPrompts()).prompts).toHaveLength(2);
    expect((await client.listResources()).resources).toHaveLength(3);
  });
});
