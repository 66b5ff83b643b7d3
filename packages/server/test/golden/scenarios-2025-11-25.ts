import { localOwner } from "@taskbridge/core";
import { eventually } from "../serve.ts";
import { type Client20251125, callAsTask } from "./client-2025-11-25.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";

const create: Scenario<Client20251125> = {
  name: "create",
  options: {
    instructions: "Encodes videos.",
    tools: [
      fakeTool("encode", {
        title: "Encode",
        description: "Encodes one video.",
        input: { type: "object", properties: { url: { type: "string", format: "uri" } }, required: ["url"] },
        output: { type: "object", properties: { files: { type: "integer" } }, required: ["files"] },
        annotations: { idempotentHint: true },
        task: { immediateResponse: "The video is being encoded." },
      }),
      fakeTool("short", { task: { maxRunMs: 60_000, retentionMs: 600_000, pollIntervalMs: 5_000 } }),
      fakeTool("must", { task: { support: "required" } }),
      fakeTool("never", { task: { support: "forbidden" } }),
    ],
  },
  play: async ({ client }) => {
    const session = await client.connect();
    await session.request("tools/list");
    await session.request("tools/call", {
      name: "encode",
      arguments: { url: "https://example.com/a.mp4" },
      task: { ttl: 3_600_000 },
    });
    for (const ttl of [undefined, null, 0, 120_000]) {
      await session.request("tools/call", { name: "short", arguments: {}, task: { ttl } });
    }
    await session.request("tools/call", { name: "must", task: {} });
  },
};

const poll: Scenario<Client20251125> = {
  name: "poll",
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    await session.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().progress({ done: 3, total: 10 });
    await settle();
    await session.request("tasks/get", { taskId });
    await clock.advance(60_000);
    backend.of().progress({ done: 9, total: 10, message: "packing" });
    await settle();
    await session.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().succeed({ files: 14, name: "ü" });
    await settle();
    await session.request("tasks/get", { taskId });
    await session.request("tasks/result", { taskId });
    // As the v1 SDK sends it.
    await session.request("tasks/get", { taskId, task: {} });
    await session.request("tasks/result", { taskId });
  },
};

const waiting: Scenario<Client20251125> = {
  name: "result-that-is-waited-for",
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    const stream = await session.open("tasks/result", { taskId });
    await clock.advance(1_000);
    backend.of().progress({ done: 1, total: 2 });
    await stream.next();
    await clock.advance(1_000);
    backend.of().succeed({ files: 14 });
    await settle();
    await stream.rest();
  },
};

const listen: Scenario<Client20251125> = {
  name: "status-notifications",
  play: async ({ client, backend, clock, settle, server }) => {
    const session = await client.connect();
    const own = await session.listen();
    const reported = await callAsTask(session, "job", {}, {}, { _meta: { progressToken: "p" } });
    await clock.advance(1_000);
    const quiet = await callAsTask(session);
    await clock.advance(1_000);
    const [first, second] = backend.executions;
    first?.progress({ done: 1, total: 3 });
    for (const _sent of ["progress", "status"]) await own.next();
    first?.progress({ done: 2, total: 3 });
    await settle();
    await clock.advance(1_000);
    for (const _sent of ["progress", "status"]) await own.next();
    server.toolsChanged();
    await own.next();
    first?.succeed({ files: 14 });
    await own.next();
    second?.fail({ kind: "protocol", reason: "lost", code: "lost" });
    await own.next();
    await session.request("tasks/result", { taskId: reported });
    await session.request("tasks/result", { taskId: quiet });
    await session.end();
    await own.rest();
  },
};

const failed = (name: string, legacyErrorStatus: "failed" | "completed"): Scenario<Client20251125> => ({
  name,
  options: {
    legacyErrorStatus,
    tools: [
      fakeTool("job"),
      fakeTool("count", { output: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } }),
    ],
  },
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    backend.of().fail({ reason: "exit code 2", code: "exit", detail: "disk full" });
    await settle();
    await session.request("tasks/get", { taskId });
    await session.request("tasks/result", { taskId });
    await clock.advance(1_000);
    const unfit = await callAsTask(session, "count");
    backend.of().succeed({ n: "many" });
    await settle();
    await session.request("tasks/get", { taskId: unfit });
    await session.request("tasks/result", { taskId: unfit });
    await session.request("tasks/list");
  },
});

const protocolFailure: Scenario<Client20251125> = {
  name: "protocol-failure",
  options: { tools: [fakeTool("job"), fakeTool("short", { task: { maxRunMs: 60_000 } })] },
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const lost = await callAsTask(session);
    backend.of().fail({ kind: "protocol", reason: "lost", code: "lost" });
    await settle();
    await session.request("tasks/get", { taskId: lost });
    await session.request("tasks/result", { taskId: lost });
    const late = await callAsTask(session, "short");
    await clock.advance(60_000);
    await settle();
    await session.request("tasks/get", { taskId: late });
    await session.request("tasks/result", { taskId: late });
  },
};

const cancel: Scenario<Client20251125> = {
  name: "cancel",
  options: { fake: { traits: { cancel: "requested" } } },
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    const waits = await session.open("tasks/result", { taskId });
    await session.request("tasks/cancel", { taskId });
    await waits.rest();
    await eventually(() => backend.of().cancels.length === 1);
    await session.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().succeed("all the same");
    await settle();
    await session.request("tasks/get", { taskId });
    await session.request("tasks/result", { taskId });
    await session.request("tasks/cancel", { taskId });
    const second = await callAsTask(session);
    backend.of().succeed("in time");
    await settle();
    await session.request("tasks/cancel", { taskId: second });
    await session.request("tasks/get", { taskId: second });
  },
};

const expiry: Scenario<Client20251125> = {
  name: "expiry",
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session, "job", {}, { ttl: 60_000 });
    await clock.advance(3_600_000);
    backend.of().succeed("kept for a minute");
    await settle();
    await clock.advance(59_999);
    // Its session has made room meanwhile, which is nothing to its client nor to the task.
    await session.request("tasks/get", { taskId });
    const next = await client.connect();
    await next.request("tasks/get", { taskId });
    await clock.advance(1);
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) await next.request(method, { taskId });
    await next.request("tasks/list");
  },
};

const list: Scenario<Client20251125> = {
  name: "list",
  options: { limits: { maxConcurrentTasksPerOwner: 100 } },
  play: async ({ client, clock, server }) => {
    const session = await client.connect();
    await session.request("tasks/list");
    for (let count = 0; count < 51; count++) {
      await server.engine.createTask({ tool: "job", owner: localOwner, input: {} });
      // Tasks of one instant have no order.
      await clock.advance(1);
    }
    const { result } = await session.request("tasks/list");
    await session.request("tasks/list", { cursor: result?.nextCursor });
    for (const cursor of ["nowhere", 7]) await session.request("tasks/list", { cursor });
  },
};

const largeResult: Scenario<Client20251125> = {
  name: "large-result",
  options: { limits: { maxInlineResultBytes: 64 } },
  play: async ({ client, backend, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    backend.of().succeed({ files: 1, pad: "x".repeat(100) });
    await settle();
    const { result } = await session.request("tasks/result", { taskId });
    const preview = result?.structuredContent as { readonly resultUri: string } | undefined;
    await session.request("resources/templates/list");
    await session.request("resources/list");
    await session.request("resources/read", { uri: preview?.resultUri });
    await session.request("resources/read", { uri: "taskbridge://tasks/0123456789abcdef/result" });
  },
};

/** What becomes of a task. */
export const scenarios20251125: readonly Scenario<Client20251125>[] = [
  create,
  poll,
  waiting,
  listen,
  failed("failed-job", "failed"),
  failed("failed-job-as-completed", "completed"),
  protocolFailure,
  cancel,
  expiry,
  list,
  largeResult,
];
