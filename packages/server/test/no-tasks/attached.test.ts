import { afterEach, describe, expect, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer as FirstServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpHandler, type McpServer } from "@modelcontextprotocol/server";
import { attachTasks } from "../../src/index.ts";
import {
  connectHttp,
  connectLinked,
  createClient,
  hangUp,
  serveSessions,
  serveStateless,
} from "../attach/connect-v1.ts";
import { callByFetch } from "../attach/connect-v2.ts";
import { createHostV1 } from "../attach/host-v1.ts";
import { createHostV2 } from "../attach/host-v2.ts";
import { answerOurs } from "../attach/our-calls-v1.ts";
import { yes } from "../rev-2025/task-calls.ts";
import { inTime, type ServeOptions, start, stopAll } from "../serve.ts";
import { handleOf, textOf } from "./hosts.ts";

afterEach(hangUp);
afterEach(stopAll);

const companions = ["task_status", "task_result", "task_cancel"];
const options: ServeOptions = {
  waitMs: 100,
  tools: ["our-slow", "our-asking"].map((name) => ({ name, adapter: "fake", target: { run: name } })),
  fake: {
    scripts: { "our-slow": () => {}, "our-asking": (run) => run.ask({ message: "Sure?", schema: yes }) },
    onAnswer: (run, { content }) => queueMicrotask(() => run.succeed({ answered: content ?? null })),
  },
};

const setUp = async (more: ServeOptions = {}) => {
  const { server, backend } = await start({ ...options, ...more });
  const makeHost = () => {
    const host = createHostV1();
    attachTasks(host, server, { owners: "local" });
    return host;
  };
  const client = createClient({ elicitation: {} });
  answerOurs(client);
  return { backend, makeHost, client };
};

const expectCompanions = async (client: Client, succeed: () => void): Promise<void> => {
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    ({ result: await client.callTool({ name, arguments: args }) }) as unknown as Parameters<typeof textOf>[0];
  const { tools } = await client.listTools();
  expect(tools.slice(-3).map(({ name }) => name)).toEqual(companions);
  const taskId = handleOf(await call("our-slow"));
  expect(textOf(await call("task_status", { taskId }))).toContain(`Task ${taskId} of our-slow is still running`);
  succeed();
  expect(textOf(await call("task_status", { taskId, waitSeconds: 5 }))).toContain('"done"');
};

describe("[D-4] companions in an SDK v1 server that somebody already has", () => {
  test.each([
    ["a linked pair", connectLinked],
    [
      "HTTP in sessions",
      async (_host: unknown, client: Client, makeHost: () => FirstServer) =>
        connectHttp(await serveSessions(makeHost), client),
    ],
    [
      "HTTP without sessions",
      async (_host: unknown, client: Client, makeHost: () => FirstServer) =>
        connectHttp(await serveStateless(makeHost), client),
    ],
  ])("are served over %s", async (_how, connect) => {
    const { makeHost, client, backend } = await setUp();
    await connect(makeHost() as never, client, makeHost as never);
    await expectCompanions(client, () => backend.of().succeed("done"));
  });

  test("put a question to the user beside the call", async () => {
    const { makeHost, client, backend } = await setUp({ waitMs: 20_000 });
    await connectHttp(await serveSessions(makeHost), client);
    const result = await inTime(client.callTool({ name: "our-asking", arguments: {} }));
    expect(textOf({ result } as never)).toContain('{"answered":{"ok":true}}');
    expect(backend.of().answers).toHaveLength(1);
  });

  test("have names that no tool of the host may have", async () => {
    const { server } = await start(options);
    const host = new FirstServer({ name: "mine", version: "1" });
    host.registerTool("task_status", {}, () => ({ content: [] }));
    expect(() => attachTasks(host, server)).toThrow(/"task_status".*companions to never/);
    const { server: other } = await start({ ...options, companions: "never" });
    attachTasks(host, other);
  });
});

describe("[D-4] companions in an SDK v2 server that somebody already has", () => {
  const openV2 = async () => {
    const { server, backend } = await start(options);
    const handler = createMcpHandler((): McpServer => {
      const host = createHostV2();
      attachTasks(host, server, { owners: "local" });
      return host;
    });
    const send = callByFetch((request) => handler.fetch(request));
    const ask = async (method: string, params: Record<string, unknown>, more: object) => {
      const result = (await inTime(send(method, params, more))).at(-1)?.result ?? {};
      return { result } as Parameters<typeof textOf>[0];
    };
    return { backend, ask };
  };

  test("are served to requests that do not declare the extension, and hidden from others", async () => {
    const { ask, backend } = await openV2();
    const namesFor = async (tasks: boolean) => {
      const { tools } = (await ask("tools/list", {}, { tasks })).result as { tools: { name: string }[] };
      return tools.map(({ name }) => name).filter((name) => name.startsWith("task_"));
    };
    expect([await namesFor(false), await namesFor(true)]).toEqual([companions, []]);
    const noTasks = { tasks: false };
    const taskId = handleOf(await ask("tools/call", { name: "our-slow", arguments: {} }, noTasks));
    backend.of().succeed("done");
    const status = { name: "task_status", arguments: { taskId, waitSeconds: 5 } };
    expect(textOf(await ask("tools/call", status, noTasks))).toContain('"done"');
  });

  test("[D-9] ask by the answer of the call, and go on with the same task", async () => {
    const { ask, backend } = await openV2();
    const form = { tasks: false, capabilities: { elicitation: { form: {} } } };
    const call = { name: "our-asking", arguments: {} };
    const { result } = await ask("tools/call", call, form);
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    const [key = ""] = Object.keys(result.inputRequests as object);
    const inputResponses = { [key]: { action: "accept", content: { ok: true } } };
    const again = { ...call, inputResponses, requestState: result.requestState };
    expect(textOf(await ask("tools/call", again, form))).toContain('{"answered":{"ok":true}}');
    expect(backend.starts()).toBe(1);
  });
});
