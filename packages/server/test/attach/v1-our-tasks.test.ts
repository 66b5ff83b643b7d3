import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { attachTasks } from "../../src/index.ts";
import { start, stopAll } from "../serve.ts";
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
import { answerOurs, expectOurTasks } from "./our-calls-v1.ts";
import { ourFake, ourLimits, ourTools } from "./our-pipelines.ts";

afterEach(hangUp);
afterEach(stopAll);

/** `owners`: callers of these servers are not told apart, and all of them are the test. */
const setUp = async () => {
  const { server } = await start({ tools: ourTools, fake: ourFake, limits: ourLimits });
  const makeHost = (): ReturnType<typeof createHostV1> => {
    const host = createHostV1();
    attachTasks(host, server, { owners: "local" });
    return host;
  };
  const makeLowLevelHost = (): Server => {
    const host = new Server({ name: "low-level", version: "1.0.0" }, { capabilities: {} });
    attachTasks(host, server, { owners: "local" });
    return host;
  };
  const client: Client = createClient({ elicitation: {} });
  answerOurs(client);
  return { makeHost, makeLowLevelHost, client };
};

describe("[B-4] [B-8] [B-14] [B-21] pipelines in an SDK v1 server", () => {
  test("over a linked pair", async () => {
    const { makeHost, client } = await setUp();
    await connectLinked(makeHost(), client);
    expect(client.getServerCapabilities()).toMatchObject({
      logging: {},
      completions: {},
      prompts: { listChanged: true },
      tools: { listChanged: true },
      resources: { listChanged: true },
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    await expectOurTasks(client, { canAsk: true });
  });

  test("over stdio, in a process of its own", async () => {
    const { client } = await setUp();
    await connectStdio(true, client);
    await expectOurTasks(client, { canAsk: true });
  });

  test("over HTTP in sessions", async () => {
    const { makeHost, client } = await setUp();
    await connectHttp(await serveSessions(makeHost), client);
    await expectOurTasks(client, { canAsk: true });
  });

  test("over HTTP without sessions, where a question is left to whoever can ask it", async () => {
    const { makeHost, client } = await setUp();
    await connectHttp(await serveStateless(makeHost), client);
    await expectOurTasks(client, { canAsk: false });
  });

  test("in a low-level server that has nothing of its own, over a linked pair and over HTTP", async () => {
    const { makeLowLevelHost, client } = await setUp();
    await connectLinked(makeLowLevelHost(), client);
    await expectOurTasks(client, { canAsk: true });
    const other = await setUp();
    await connectHttp(await serveSessions(other.makeLowLevelHost), other.client);
    await expectOurTasks(other.client, { canAsk: true });
  });
});
