import { afterEach, describe, expect, test } from "@jest/globals";
import { createMcpHandler, McpServer, Server } from "@modelcontextprotocol/server";
import { attachTasks, type TaskServer, type WireName } from "../../src/index.ts";
import { eventually, start, stopAll } from "../serve.ts";
import { createClient, hangUp } from "./connect-v1.ts";
import { type Call2026, callByFetch, connectFetch, connectPipe, openPipe, serveSessionsV2 } from "./connect-v2.ts";
import { createHostV2 } from "./host-v2.ts";
import { answerOurs, expectOurTasks } from "./our-calls-v1.ts";
import { largeText, ourFake, ourLimits, ourTools } from "./our-pipelines.ts";

afterEach(hangUp);
afterEach(stopAll);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const setUp = async () => start({ tools: ourTools, fake: ourFake, limits: ourLimits });

const attached = <Host extends McpServer | Server>(host: Host, tasks: TaskServer): Host => {
  attachTasks(host, tasks, { owners: "local" });
  return host;
};
const lowLevel = (): Server => new Server({ name: "low-level", version: "1.0.0" }, { capabilities: {} });

const hosts: Readonly<Record<string, (tasks: TaskServer) => McpServer | Server>> = {
  "an McpServer": (tasks) => attached(createHostV2(), tasks),
  "an McpServer that has no tools yet": (tasks) => attached(new McpServer({ name: "new", version: "1" }), tasks),
  "a low-level server that has nothing of its own": (tasks) => attached(lowLevel(), tasks),
};

/** The whole life of our pipelines on 2026-07-28. */
const expectTasks2026 = async (send: Call2026): Promise<void> => {
  const form = { capabilities: { elicitation: { form: {} } } };
  const ask = async (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const answer = (await send(method, params, form)).at(-1);
    return answer?.result ?? { ...answer?.error };
  };
  const create = async (name: string): Promise<string> => {
    const created = await ask("tools/call", { name, arguments: {} });
    expect(created).toMatchObject({ resultType: "task", status: expect.any(String) });
    expect(created).not.toHaveProperty("content");
    return String(created.taskId);
  };
  const get = (taskId: string) => ask("tasks/get", { taskId });
  const become = (taskId: string, status: string) => eventually(async () => (await get(taskId)).status === status);

  const { tools } = await ask("tools/list", {});
  for (const tool of tools as object[]) expect(tool).not.toHaveProperty("execution");
  expect(await ask("tools/call", { name: "our-quick", arguments: {} })).toMatchObject({
    resultType: "complete",
    content: [{ text: expect.stringContaining('"files":14') }],
  });
  expect(await ask("tools/call", { name: "our-failing", arguments: {} })).toMatchObject({ isError: true });

  const slow = await create("our-slow");
  expect(await get(slow)).toMatchObject({ status: "working" });
  expect(await ask("tasks/cancel", { taskId: slow })).toMatchObject({ resultType: "complete" });
  await become(slow, "cancelled");

  const asking = await create("our-asking");
  await become(asking, "input_required");
  const [key] = Object.keys((await get(asking)).inputRequests as object);
  const inputResponses = { [String(key)]: { action: "accept", content: { ok: true } } };
  expect(await ask("tasks/update", { taskId: asking, inputResponses })).toMatchObject({ resultType: "complete" });
  await become(asking, "completed");
  expect(await get(asking)).toMatchObject({ result: { content: [{ text: expect.stringContaining('"ok":true') }] } });

  const large = await create("our-large");
  await become(large, "completed");
  const { content } = (await get(large)).result as { content: { type: string; uri?: string }[] };
  const link = content.find(({ type }) => type === "resource_link");
  const { contents } = await ask("resources/read", { uri: `${link?.uri}?length=65536` });
  expect(contents).toMatchObject([{ text: largeText }]);
  const { resourceTemplates } = await ask("resources/templates/list", {});
  expect(resourceTemplates).toContainEqual(expect.objectContaining({ name: "task result" }));

  expect(await get("nope")).toMatchObject({ code: -32_602 });
  expect(await ask("resources/read", { uri: "taskbridge://tasks/nope/result" })).toMatchObject({ code: -32_602 });
  for (const method of ["tasks/result", "tasks/list"]) {
    expect(await ask(method, { taskId: slow })).toMatchObject({ code: -32_601 });
  }
  const undeclared = (await send("tasks/get", { taskId: slow }, { tasks: false })).at(-1);
  expect(undeclared?.error).toMatchObject({ code: -32_021 });
};

describe("pipelines in an SDK v2 server", () => {
  test.each(Object.keys(hosts))("on 2026-07-28 over HTTP, in %s", async (kind) => {
    const { server } = await setUp();
    const handler = createMcpHandler(() => hosts[kind]?.(server) ?? lowLevel());
    await expectTasks2026(callByFetch(handler.fetch));
  });

  test.each(Object.keys(hosts))("on 2026-07-28 over stdio, in %s", async (kind) => {
    const { server } = await setUp();
    const pipe = await openPipe(() => hosts[kind]?.(server) ?? lowLevel());
    closing.push(pipe.close);
    await expectTasks2026(pipe.call);
  });

  test.each(Object.keys(hosts))("for clients of earlier revisions, in %s", async (kind) => {
    const makeHost = (tasks: TaskServer) => hosts[kind]?.(tasks) ?? lowLevel();
    const client = (): ReturnType<typeof createClient> => {
      const created = createClient({ elicitation: {} });
      answerOurs(created);
      return created;
    };
    const stateless = client();
    const one = await setUp();
    await connectFetch(createMcpHandler(() => makeHost(one.server)).fetch, stateless);
    await expectOurTasks(stateless, { canAsk: false });

    const inSession = client();
    const two = await setUp();
    await connectFetch(
      serveSessionsV2(() => makeHost(two.server)),
      inSession,
    );
    await expectOurTasks(inSession, { canAsk: true });

    const piped = client();
    const three = await setUp();
    closing.push(await connectPipe(() => makeHost(three.server), piped));
    await expectOurTasks(piped, { canAsk: true });
  });
});

test("revisions that the task server does not serve are neither declared nor answered", async () => {
  const quick = { name: "our-quick", arguments: {} };
  const only = async (wires: readonly WireName[]) => {
    const { server } = await start({ tools: ourTools, fake: ourFake, wires: [...wires] });
    const { fetch } = createMcpHandler(() => attached(createHostV2(), server));
    const client = createClient();
    await connectFetch(fetch, client);
    return { send: callByFetch(fetch), client };
  };
  const modern = await only(["2026-07-28", "none"]);
  expect(modern.client.getServerCapabilities()).not.toHaveProperty("tasks");
  expect((await modern.client.listTools()).tools.find(({ name }) => name === "our-quick")).not.toHaveProperty(
    "execution",
  );
  expect(await modern.client.callTool(quick)).toMatchObject({ content: [{ text: expect.stringContaining("14") }] });
  await expect(modern.client.experimental.tasks.getTask("x")).rejects.toMatchObject({ code: -32_601 });
  const legacy = await only(["2025-11-25", "none"]);
  const [discovered] = await legacy.send("server/discover");
  expect(discovered?.result?.capabilities).not.toHaveProperty("extensions");
  expect(await legacy.send("tools/call", quick)).toMatchObject([{ result: { resultType: "complete" } }]);
  expect(await legacy.send("tasks/get", { taskId: "x" })).toMatchObject([{ error: { code: -32_601 } }]);
});

test("headers of a pipeline's arguments are compared with them, as those of the host's tools are", async () => {
  const region = { type: "string", "x-mcp-header": "Region" };
  const { server, backend } = await start({
    tools: [
      { name: "our-job", adapter: "fake", target: { run: "job" }, input: { type: "object", properties: { region } } },
    ],
  });
  const send = callByFetch(createMcpHandler(() => attached(createHostV2(), server)).fetch);
  const code = async (name: string, headers: Record<string, string>): Promise<unknown> =>
    (await send("tools/call", { name, arguments: { region: "eu" } }, { headers })).at(-1)?.error?.code;
  for (const name of ["our-job", "regional"]) {
    expect(await code(name, {})).toBe(-32_020);
    expect(await code(name, { "mcp-param-region": "us" })).toBe(-32_020);
    expect(await code(name, { "mcp-param-region": "eu" })).toBeUndefined();
  }
  expect(backend.starts()).toBe(1);
});
