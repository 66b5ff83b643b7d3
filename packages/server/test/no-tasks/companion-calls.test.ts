import { afterEach, describe, expect, test } from "@jest/globals";
import { localOwner } from "@taskbridge/core";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { handleOf, joinHost, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

const _tool = (more: object = {}) => ({ name: "job", adapter: "fake", target: { run: "job" }, ...more });

describe("[D-4] the same records", () => {
  test("a task of each wire and with an ID of the client's is reached by the companions", async () => {
    const served = await serve({ waitMs: 0 });
    const host = await joinHost("2025-11-25", served);
    const { engine } = served.server;
    const native = (await served.rpc("tools/call", { name: "job" })).result.taskId as string;
    const session = await rpc2025(served.url);
    const created = (await session.request("tools/call", { name: "job", arguments: {}, task: {} })).result;
    const legacy = (created.task as { taskId: string }).taskId;
    await engine.createTask({ tool: "job", input: {}, owner: localOwner, taskId: "my-own:1" });
    for (const taskId of [native, legacy, "my-own:1"]) {
      expect(textOf(await host.call("task_status", { taskId }))).toContain(`Task ${taskId} of job is still running`);
    }
    expect(textOf(await host.call("task_status", { taskId: "?" }))).toContain("- my-own:1 of job: running");
    await host.call("task_cancel", { taskId: "my-own:1" });
    expect((await served.rpc("tasks/get", { taskId: native })).result.status).toBe("working");
    expect((await served.rpc("tasks/get", { taskId: "my-own:1" })).result.status).toBe("cancelled");
  });

  test("case 18: where callers have no owner, the ID alone opens a task and none are listed", async () => {
    const host = await openHost("2025-11-25", { owners: "none" });
    const taskId = handleOf(await host.call("job"));
    expect(textOf(await host.call("task_status", { taskId }))).toContain("is still running");
    expect(textOf(await host.call("task_status", { taskId: "x" }))).toBe(
      'Task not found: "x". Take the ID from the answer that named it.',
    );
  });
});

describe("a wait for a status", () => {
  test("is answered with how the task stands when the server is stopped", async () => {
    const host = await openHost("2025-11-25", { waitMs: 0 });
    const taskId = handleOf(await host.call("job"));
    const waiting = host.call("task_status", { taskId, waitSeconds: 45 });
    await inTime(host.call("task_status", { taskId }));
    await host.server.close();
    expect(textOf(await inTime(waiting))).toContain("is still running");
  });

  test("has as many places as the limits say", async () => {
    const { url } = await serve({ waitMs: 0, limits: { maxWaitsPerOwner: 1 } });
    const session = await rpc2025(url);
    const taskId = handleOf(await session.request("tools/call", { name: "job", arguments: {} }));
    const statusFor = (waitSeconds: number) => ({ name: "task_status", arguments: { taskId, waitSeconds } });
    const first = await session.open("tools/call", statusFor(45), { id: "first" });
    await eventually(async () => {
      const { error } = await session.request("tools/call", statusFor(0.01));
      return error.code === 429 && error.message.includes("maxWaitsPerOwner");
    });
    // Without a wait it is answered nevertheless.
    expect(textOf(await session.request("tools/call", statusFor(0)))).toContain("is still running");
    await session.send({ method: "notifications/cancelled", params: { requestId: "first" } });
    await first.ended;
    await eventually(async () => (await session.request("tools/call", statusFor(0.01))).error.code === 0);
  });
});

describe("case 13: a cancellation", () => {
  test.each([
    ["the user has left", 1],
    ["McpError: MCP error -32001: Request timed out", 0],
  ])("of an untasked call that says %j stops its job so often: %i", async (reason, stops) => {
    const { backend, url } = await serve({ waitMs: 20_000 });
    const session = await rpc2025(url);
    const calling = await session.open("tools/call", { name: "job", arguments: {} }, { id: "call" });
    await eventually(() => backend.starts() === 1);
    await session.send({ method: "notifications/cancelled", params: { requestId: "call", reason } });
    await calling.ended;
    if (stops > 0) await eventually(() => backend.of().cancels.length === stops);
    await backend.events.settled();
    expect(backend.of().cancels).toHaveLength(stops);
  });

  test("of a companion's call touches no task", async () => {
    const { backend, url } = await serve({ waitMs: 0 });
    const session = await rpc2025(url);
    const taskId = handleOf(await session.request("tools/call", { name: "job", arguments: {} }));
    const args = { name: "task_status", arguments: { taskId, waitSeconds: 45 } };
    const waiting = await session.open("tools/call", args, { id: "wait" });
    await session.send({ method: "notifications/cancelled", params: { requestId: "wait", reason: "enough" } });
    await waiting.ended;
    await backend.events.settled();
    expect(backend.of().cancels).toEqual([]);
    expect(textOf(await session.request("tools/call", { name: "task_status", arguments: { taskId } }))).toContain(
      "is still running",
    );
  });
});
