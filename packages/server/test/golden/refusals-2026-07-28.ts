import { type Client20260728, callForTask } from "./client-2026-07-28.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";
import { questionKeys } from "./questions-2026-07-28.ts";

const methods = ["tasks/get", "tasks/update", "tasks/cancel"];

const badIds: Scenario<Client20260728> = {
  name: "error-task-id",
  play: async ({ client }) => {
    for (const method of methods) {
      await client.request(method, { taskId: "0123456789abcdef", inputResponses: {} });
      await client.request(method, { taskId: "../etc/passwd", inputResponses: {} });
      for (const taskId of [7, null, { id: "7" }]) {
        await client.request(method, { taskId, inputResponses: {} }, { headers: { "mcp-name": String(taskId) } });
      }
      await client.request(method, { inputResponses: {} });
    }
  },
};

const headers: Scenario<Client20260728> = {
  name: "error-headers",
  play: async ({ client }) => {
    const taskId = await callForTask(client);
    for (const wrong of [
      { "mcp-name": "another" },
      { "mcp-name": undefined },
      { "mcp-method": "tasks/cancel" },
      { "mcp-protocol-version": "2025-11-25" },
    ]) {
      await client.request("tasks/get", { taskId }, { headers: wrong });
    }
  },
};

const missingCapability: Scenario<Client20260728> = {
  name: "error-missing-capability",
  options: { tools: [fakeTool("job"), fakeTool("must", { task: { support: "required" } })] },
  play: async ({ client }) => {
    const taskId = await callForTask(client);
    const undeclared = { tasks: false };
    for (const method of methods) await client.request(method, { taskId, inputResponses: {} }, undeclared);
    await client.request("subscriptions/listen", { notifications: { taskIds: [taskId] } }, undeclared);
    await client.request("tools/call", { name: "must", arguments: {} }, undeclared);
  },
};

const calls: Scenario<Client20260728> = {
  name: "error-call",
  options: {
    tools: [fakeTool("job", { input: { type: "object", properties: { url: { type: "string" } }, required: ["url"] } })],
  },
  play: async ({ client, backend }) => {
    const call = (name: unknown, args: unknown) => client.request("tools/call", { name, arguments: args });
    await call("nope", {});
    await call("job", {});
    await call("job", { url: 7 });
    await call("job", "url");
    await call(undefined, {});
    backend.faults.next("start", { before: { code: "denied", message: "queue video: not allowed" } });
    await call("job", { url: "a" });
  },
};

const full: Scenario<Client20260728> = {
  name: "error-limit-exceeded",
  options: {
    tools: [fakeTool("job", { task: { pollIntervalMs: 5_000 } })],
    limits: { maxConcurrentTasksPerOwner: 2, maxListenTaskIds: 1 },
  },
  play: async ({ client, backend, clock, settle }) => {
    const one = await callForTask(client);
    // Tasks of one instant have no order.
    await clock.advance(1_000);
    const two = await callForTask(client);
    await client.request("tools/call", { name: "job", arguments: {} });
    await client.request("subscriptions/listen", { notifications: { taskIds: [one, two] } });
    backend.of().succeed();
    await settle();
    await callForTask(client);
  },
};

const updates: Scenario<Client20260728> = {
  name: "error-update",
  play: async ({ client, backend, settle }) => {
    const taskId = await callForTask(client);
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    backend.of().ask({ message: "Sure?", schema });
    await settle();
    const { result } = await client.request("tasks/get", { taskId });
    const [key = ""] = questionKeys(result);
    for (const answer of [{ action: "accept" }, { action: "perhaps" }, {}, 7]) {
      await client.request("tasks/update", { taskId, inputResponses: { [key]: answer } });
    }
    await client.request("tasks/update", { taskId });
  },
};

const otherWires: Scenario<Client20260728> = {
  name: "error-method-of-another-wire",
  play: async ({ client }) => {
    const taskId = await callForTask(client);
    await client.request("tasks/result", { taskId });
    await client.request("tasks/list");
    await client.request("tasks/delete", { taskId });
  },
};

/** What is refused, and how. */
export const refusals20260728: readonly Scenario<Client20260728>[] = [
  badIds,
  headers,
  missingCapability,
  calls,
  full,
  updates,
  otherWires,
];
