import { type Client20251125, callAsTask } from "./client-2025-11-25.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";

const badIds: Scenario<Client20251125> = {
  name: "error-task-id",
  play: async ({ client }) => {
    const session = await client.connect();
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      for (const taskId of ["0123456789abcdef", "../etc/passwd", 7, null, { id: "7" }, undefined]) {
        await session.request(method, { taskId });
      }
    }
  },
};

const support: Scenario<Client20251125> = {
  name: "error-task-support",
  options: {
    tools: [fakeTool("must", { task: { support: "required" } }), fakeTool("never", { task: { support: "forbidden" } })],
    plainTools: [{ name: "echo", inputSchema: { type: "object" }, call: () => ({ content: [] }) }],
  },
  play: async ({ client }) => {
    const session = await client.connect();
    await session.request("tools/call", { name: "must", arguments: {} });
    for (const name of ["never", "echo"]) await session.request("tools/call", { name, arguments: {}, task: {} });
  },
};

const calls: Scenario<Client20251125> = {
  name: "error-call",
  options: {
    tools: [fakeTool("job", { input: { type: "object", properties: { url: { type: "string" } }, required: ["url"] } })],
  },
  play: async ({ client, backend }) => {
    const session = await client.connect();
    const call = (params: Record<string, unknown>) => session.request("tools/call", { task: {}, ...params });
    const good = { name: "job", arguments: { url: "a" } };
    await call({ name: "nope" });
    await call({ arguments: {} });
    for (const args of [{}, { url: 7 }, "url"]) await call({ name: "job", arguments: args });
    for (const task of [7, [], null, { ttl: -1 }, { ttl: "60000" }]) await call({ ...good, task });
    await call({ ...good, _meta: { "modelcontextprotocol.io/task": { taskId: "mine" } } });
    backend.faults.next("start", { before: { code: "denied", message: "queue video: not allowed" } });
    await call(good);
    await call({ ...good, arguments: { url: 7 }, task: undefined });
  },
};

const full: Scenario<Client20251125> = {
  name: "error-limit-exceeded",
  options: {
    tools: [fakeTool("job", { task: { pollIntervalMs: 5_000 } })],
    limits: { maxConcurrentTasksPerOwner: 1, maxSessionsPerOwner: 1 },
  },
  play: async ({ client, backend, settle }) => {
    const session = await client.connect();
    await callAsTask(session);
    await session.request("tools/call", { name: "job", arguments: {}, task: {} });
    backend.of().succeed();
    await settle();
    await callAsTask(session);
    const own = await session.listen();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    await (await client.exchange({ message: { id: "second", method: "initialize", params } })).rest();
    own.leave();
  },
};

const sessions: Scenario<Client20251125> = {
  name: "error-session",
  play: async ({ client }) => {
    const session = await client.connect();
    const ping = { id: "ping", method: "ping" };
    const unknown = { "mcp-session-id": "00000000-0000-4000-8000-000000000000" };
    await session.request("ping");
    for (const headers of [{}, unknown]) await (await client.exchange({ message: ping, headers })).rest();
    for (const http of ["GET", "DELETE"]) await (await client.exchange({ http, headers: unknown })).rest();
    await session.request("ping", {}, { "mcp-protocol-version": "1900-01-01" });
    await session.request("ping", {}, { accept: "application/json" });
    const own = await session.listen();
    const another = await session.listen();
    await own.rest();
    await session.end();
    await another.rest();
    await session.request("ping");
  },
};

const methods: Scenario<Client20251125> = {
  name: "error-method-of-another-wire",
  play: async ({ client }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    for (const method of ["tasks/update", "tasks/delete", "subscriptions/listen", "server/discover"]) {
      await session.request(method, { taskId });
    }
    await session.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
  },
};

const earlier: Scenario<Client20251125> = {
  name: "error-task-on-an-earlier-revision",
  options: { waitMs: 0 },
  play: async ({ client }) => {
    const session = await client.connect({ revision: "2025-06-18" });
    await session.request("tools/list");
    // What asks for a task means nothing there.
    await session.request("tools/call", { name: "job", arguments: {}, task: {} });
    await session.request("tasks/list");
  },
};

/** What is refused, and how. */
export const refusals20251125: readonly Scenario<Client20251125>[] = [
  badIds,
  support,
  calls,
  full,
  sessions,
  methods,
  earlier,
];
