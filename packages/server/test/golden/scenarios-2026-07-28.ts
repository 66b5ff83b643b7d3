import { eventually } from "../serve.ts";
import { type Client20260728, callForTask } from "./client-2026-07-28.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";
import { questionKeys } from "./questions-2026-07-28.ts";

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

const create: Scenario<Client20260728> = {
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
      }),
      fakeTool("short", { task: { maxRunMs: 60_000, retentionMs: 1_000, pollIntervalMs: 5_000 } }),
    ],
  },
  play: async ({ client }) => {
    await client.request("server/discover");
    await client.request("tools/list");
    await client.request("tools/call", { name: "encode", arguments: { url: "https://example.com/a.mp4" } });
    await client.request("tools/call", { name: "short", arguments: {}, task: { ttl: 1 } });
  },
};

const poll: Scenario<Client20260728> = {
  name: "poll",
  play: async ({ client, backend, clock, settle }) => {
    const taskId = await callForTask(client);
    await client.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().progress({ done: 3, total: 10 });
    await settle();
    await client.request("tasks/get", { taskId });
    await clock.advance(60_000);
    backend.of().progress({ done: 9, total: 10, message: "packing" });
    await settle();
    await client.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().succeed({ files: 14, name: "ü" });
    await settle();
    await client.request("tasks/get", { taskId });
    await clock.advance(1_000);
    await client.request("tasks/get", { taskId });
  },
};

const failedJob: Scenario<Client20260728> = {
  name: "failed-job",
  play: async ({ client, backend, settle }) => {
    const taskId = await callForTask(client);
    backend.of().fail({ reason: "exit code 2", code: "exit", detail: "disk full" });
    await settle();
    await client.request("tasks/get", { taskId });
  },
};

const protocolFailure: Scenario<Client20260728> = {
  name: "protocol-failure",
  options: { tools: [fakeTool("job"), fakeTool("short", { task: { maxRunMs: 60_000 } })] },
  play: async ({ client, backend, clock, settle }) => {
    const lost = await callForTask(client);
    backend.of().fail({ kind: "protocol", reason: "lost", code: "lost" });
    await settle();
    await client.request("tasks/get", { taskId: lost });
    const late = await callForTask(client, "short");
    await clock.advance(60_000);
    await settle();
    await client.request("tasks/get", { taskId: late });
  },
};

const cancel: Scenario<Client20260728> = {
  name: "cancel",
  options: { fake: { traits: { cancel: "requested" } } },
  play: async ({ client, backend, clock, settle }) => {
    const taskId = await callForTask(client);
    await client.request("tasks/cancel", { taskId });
    await eventually(() => backend.of().cancels.length === 1);
    await settle();
    await client.request("tasks/get", { taskId });
    await client.request("tasks/cancel", { taskId });
    await clock.advance(1_000);
    backend.of().stop("stopped on request");
    await settle();
    await client.request("tasks/get", { taskId });
    await client.request("tasks/cancel", { taskId });
    await client.request("tasks/get", { taskId });
    const second = await callForTask(client);
    await client.request("tasks/cancel", { taskId: second });
    backend.of().succeed("in time");
    await settle();
    await client.request("tasks/get", { taskId: second });
  },
};

const expiry: Scenario<Client20260728> = {
  name: "expiry",
  options: { tools: [fakeTool("job", { task: { retentionMs: 60_000 } })] },
  play: async ({ client, backend, clock, settle }) => {
    const taskId = await callForTask(client);
    await clock.advance(3_600_000);
    backend.of().succeed("kept for a minute");
    await settle();
    await clock.advance(59_999);
    await client.request("tasks/get", { taskId });
    await clock.advance(1);
    await client.request("tasks/get", { taskId });
    await client.request("tasks/update", { taskId, inputResponses: {} });
    await client.request("tasks/cancel", { taskId });
    await (await client.open("subscriptions/listen", { notifications: { taskIds: [taskId] } })).rest();
  },
};

const listen: Scenario<Client20260728> = {
  name: "listen",
  play: async ({ client, backend, clock, settle }) => {
    const one = await callForTask(client);
    await clock.advance(1_000);
    const two = await callForTask(client);
    const stream = await client.open("subscriptions/listen", { notifications: { taskIds: [one, two, "unknown"] } });
    for (const _frame of ["acknowledgement", one, two]) await stream.next();
    const [first, second] = backend.executions;
    await clock.advance(1_000);
    first?.progress({ done: 1, total: 2 });
    await stream.next();
    first?.ask({ message: "Sure?", schema: yes });
    const asked = await stream.next();
    const [key = ""] = questionKeys(asked?.params);
    await clock.advance(1_000);
    await client.request("tasks/update", {
      taskId: one,
      inputResponses: { [key]: { action: "accept", content: { ok: true } } },
    });
    await stream.next();
    await eventually(() => first?.answers.length === 1);
    await settle();
    first?.succeed({ files: 14 });
    await stream.next();
    second?.fail({ kind: "protocol", reason: "lost", code: "lost" });
    await stream.rest();
  },
};

const direct: Scenario<Client20260728> = {
  name: "direct-answer",
  options: {
    tools: [fakeTool("quick"), fakeTool("broken"), fakeTool("always", { task: { support: "required" } })],
    fake: {
      scripts: { broken: (run) => run.fail("exit code 2") },
      onStart: (run) => run.succeed({ files: 14 }),
    },
  },
  play: async ({ client }) => {
    await client.request("tools/call", { name: "quick", arguments: {} });
    await client.request("tools/call", { name: "broken", arguments: {} });
    const taskId = await callForTask(client, "always");
    await client.request("tasks/get", { taskId });
  },
};

const largeResult: Scenario<Client20260728> = {
  name: "large-result",
  options: { limits: { maxInlineResultBytes: 64 } },
  play: async ({ client, backend, settle }) => {
    const taskId = await callForTask(client);
    backend.of().succeed({ files: 1, pad: "x".repeat(100) });
    await settle();
    const task = (await client.request("tasks/get", { taskId })).result as {
      readonly result: { readonly structuredContent: { readonly resultUri: string } };
    };
    await client.request("resources/read", { uri: task.result.structuredContent.resultUri });
  },
};

/** What becomes of a task. */
export const scenarios20260728: readonly Scenario<Client20260728>[] = [
  create,
  poll,
  failedJob,
  protocolFailure,
  cancel,
  expiry,
  listen,
  direct,
  largeResult,
];
