import { afterEach, describe, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { job, yes } from "../rev-2025/task-calls.ts";
import { inTime } from "../serve.ts";
import { type Fleet, startFleet, stopFleet } from "./fleet.ts";

afterEach(stopFleet);

const clientInfo = { name: "host", version: "1" };
const capabilities = { elicitation: { form: {} } };
const accepted = { action: "accept" as const, content: { ok: true } };
/** Nobody comes for the address itself. */
const address = new URL("http://127.0.0.1:1/mcp");

/** An official client, as it comes, whose every request goes to another replica than the one before. */
interface Host {
  asked(): number;
  tools(): Promise<readonly string[]>;
  /** Calls a tool as a task; what its client has of the result. */
  run(name: string): Promise<string>;
  /** Calls a tool as a host does that knows no tasks. */
  call(name: string): Promise<string>;
  close(): Promise<void>;
}

const openFirst = async ({ fetch }: Fleet): Promise<Host> => {
  const client = new FirstClient(clientInfo, { capabilities });
  let asked = 0;
  client.setRequestHandler(ElicitRequestSchema, async () => {
    asked++;
    return accepted;
  });
  await client.connect(new FirstHttpTransport(address, { fetch }) as never);
  const tools = async () => (await client.listTools()).tools.map(({ name }) => name);
  await tools();
  return {
    asked: () => asked,
    tools,
    run: async (name) => {
      const { tasks } = client.experimental;
      for await (const message of tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema)) {
        if (message.type === "result") return JSON.stringify(message.result);
        if (message.type === "error") throw message.error;
      }
      throw new Error("the stream has ended without an end of the task");
    },
    call: async (name) => JSON.stringify(await client.callTool({ name, arguments: {} })),
    close: () => client.close(),
  };
};

const openSecond = async ({ fetch }: Fleet): Promise<Host> => {
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: "legacy" } });
  let asked = 0;
  client.setRequestHandler("elicitation/create", async () => {
    asked++;
    return accepted;
  });
  await client.connect(new StreamableHTTPClientTransport(address, { fetch }));
  const session = createTaskSessionFromClient(client, {
    endpointId: "test",
    onInputRequest: (async () => {
      asked++;
      return accepted;
    }) as never,
  });
  return {
    asked: () => asked,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    run: async (name) => {
      const execution = await session.callTool(name, {}, { task: { preference: "prefer" } });
      expect(execution.kind).toBe("task");
      const { outcome } = await execution.settle();
      if (outcome.status !== "completed") throw new Error(JSON.stringify(outcome));
      return JSON.stringify(resultFromTaskOutcome(outcome));
    },
    call: async (name) => JSON.stringify(await client.callTool({ name, arguments: {} })),
    close: () => client.close(),
  };
};

const start = (): Promise<Fleet> =>
  startFleet(3, {
    waitMs: 30_000,
    tools: [
      { ...job, name: "quick", target: { run: "quick" }, task: { pollIntervalMs: 50 } },
      { ...job, name: "ask", target: { run: "ask" }, task: { pollIntervalMs: 50 } },
    ],
    fake: {
      scripts: {
        quick: (run) => void setTimeout(() => run.succeed({ files: 14 }), 200),
        ask: (run) => run.ask({ message: "Sure?", schema: yes }),
      },
      onAnswer: (run, { content }) => queueMicrotask(() => run.succeed({ answered: content ?? null })),
    },
  });

describe.each([
  ["the first SDK", openFirst],
  ["the second SDK with ext-tasks", openSecond],
])("a client of %s without sticky routing, at three replicas", (_sdk, open) => {
  test("lists, calls, polls and gets its results", async () => {
    const fleet = await start();
    const host = await inTime(open(fleet));
    expect(await host.tools()).toEqual(expect.arrayContaining(["quick", "ask"]));
    for (let round = 0; round < 3; round++) expect(await inTime(host.run("quick"))).toContain("14");
    expect(await inTime(host.call("quick"))).toContain("14");
    for (const count of fleet.served) expect(count).toBeGreaterThan(2);
    await host.close();
  });

  test("is asked once for each question, whichever replica has it and whichever gets the answer", async () => {
    const fleet = await start();
    const host = await inTime(open(fleet));
    for (let round = 1; round <= 4; round++) {
      expect(await inTime(host.run("ask"))).toContain("true");
      expect(host.asked()).toBe(round);
    }
    expect(await inTime(host.call("ask"))).toContain("true");
    expect(fleet.backend.starts()).toBe(5);
    await host.close();
  });

  test("goes on when one replica after the other stops, the one that it began at first", async () => {
    const fleet = await start();
    const host = await inTime(open(fleet));
    const tools = await host.tools();
    for (const replica of fleet.replicas.slice(0, 2)) {
      expect(await inTime(host.run("quick"))).toContain("14");
      await inTime(fleet.stop(replica));
      expect(await inTime(host.run("ask"))).toContain("true");
    }
    expect(await host.tools()).toEqual(tools);
    await host.close();
  });
});
