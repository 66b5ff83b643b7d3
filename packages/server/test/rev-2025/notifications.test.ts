import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { type MessageStream, rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { callForTask, form, job, relatedTo, sentOn, yes } from "./task-calls.ts";

afterEach(stopAll);

const open = async () => {
  const clock = fakeClock();
  const served = await serve({ tools: [job], clock, store: memoryStore({ clock }), fake: { clock } });
  const rpc = await rpc2025(served.url, { capabilities: form });
  return { ...served, clock, rpc };
};

const statusesOn = (...streams: readonly MessageStream[]) =>
  sentOn("notifications/tasks/status", ...streams).map(({ params }) => params);
const progressOn = (...streams: readonly MessageStream[]) =>
  sentOn("notifications/progress", ...streams).map(({ params }) => params);
const isStatus =
  (status: string) =>
  ({ method, params }: Message): boolean =>
    method === "notifications/tasks/status" && params?.status === status;
const withToken = (progressToken: unknown) => ({ _meta: { progressToken } });

describe("[B-26] what a client is told about its task without asking", () => {
  test("[B-9] is the whole task, on the session's own stream, once for each change", async () => {
    const { rpc, backend, clock } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc);
    await clock.advance(5_000);
    expect(statusesOn(listening)).toEqual([]);
    backend.of().progress({ done: 1, total: 3, message: "copying" });
    const working = await listening.find(isStatus("working"));
    expect(working.params).toEqual({
      taskId,
      status: "working",
      statusMessage: "1 of 3: copying",
      createdAt: expect.stringMatching(/^2026-/),
      lastUpdatedAt: expect.stringMatching(/^2026-/),
      ttl: null,
      pollInterval: expect.any(Number),
    });
    backend.of().ask({ message: "Sure?", schema: yes });
    await listening.find(isStatus("input_required"));
    backend.of().withdraw();
    backend.of().succeed({ files: 3 });
    const completed = await listening.find(isStatus("completed"));
    expect(completed.params).toEqual((await rpc.request("tasks/get", { taskId })).result);
    expect(statusesOn(listening).map((task) => task?.status)).toEqual(["working", "input_required", "completed"]);
    expect(JSON.stringify(statusesOn(listening))).not.toContain("related-task");
    expect(progressOn(listening)).toEqual([]);
  });

  test("comes on an open tasks/result where there is no other stream", async () => {
    const { rpc, backend } = await open();
    const taskId = await callForTask(rpc, "job", withToken("p1"));
    const waiting = await rpc.open("tasks/result", { taskId }, { id: "wait" });
    backend.of().progress({ done: 1, total: 3 });
    await waiting.find(isStatus("working"));
    backend.of().succeed("done");
    await inTime(waiting.ended);
    expect(waiting.messages.map(({ id, method }) => id ?? method)).toEqual([
      "notifications/progress",
      "notifications/tasks/status",
      "notifications/tasks/status",
      "wait",
    ]);
    expect(statusesOn(waiting)[1]).toMatchObject({ taskId, status: "completed" });
  });

  test("comes on one stream only where there are several", async () => {
    const { rpc, backend } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc);
    const waiting = [await rpc.open("tasks/result", { taskId }), await rpc.open("tasks/result", { taskId })];
    backend.of().fail("disk full");
    await inTime(Promise.all(waiting.map(({ ended }) => ended)));
    await rpc.request("tasks/get", { taskId });
    expect(statusesOn(listening, ...waiting)).toMatchObject([{ status: "failed", statusMessage: "disk full" }]);
  });

  test("is the newest state when a client opens its stream later", async () => {
    const { rpc, backend, clock } = await open();
    const taskId = await callForTask(rpc);
    backend.of().progress({ done: 1, total: 3 });
    await backend.events.settled();
    backend.of().progress({ done: 2, total: 3 });
    await backend.events.settled();
    const listening = await rpc.listen();
    await eventually(async () => {
      await clock.advance(1_000);
      return statusesOn(listening).length > 0;
    });
    expect(statusesOn(listening)).toMatchObject([{ taskId, statusMessage: "2 of 3" }]);
  });

  test("[B-27] is progress as well, for the token of the call, rising, until the end", async () => {
    const { rpc, backend, clock } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc, "job", withToken(7));
    for (const done of [1, 2, 2, 1, 3]) {
      backend.of().progress({ done, total: 3, message: `step ${done}` });
      await backend.events.settled();
      await clock.advance(1_000);
    }
    backend.of().succeed("done");
    await listening.find(isStatus("completed"));
    const reported = progressOn(listening);
    expect(reported[0]).toEqual({
      progressToken: 7,
      progress: 1,
      total: 3,
      message: "1 of 3: step 1",
      _meta: relatedTo(taskId),
    });
    const values = reported.map((params) => Number(params?.progress));
    expect(values.at(-1)).toBe(3);
    expect(values).toEqual([...new Set(values)].sort((one, other) => one - other));
    expect(listening.messages.at(-1)?.params).toMatchObject({ status: "completed" });
  });

  test("[B-27] ends with the task: late news are not told, nor a token used again", async () => {
    const { rpc, backend, clock } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc, "job", withToken(7));
    backend.of().progress({ done: 1, total: 3 });
    await listening.find(isStatus("working"));
    backend.of().progress({ done: 2, total: 3 });
    backend.of().succeed("done");
    await listening.find(isStatus("completed"));
    const { length } = listening.messages;
    backend.of().set({ status: "running", progress: { done: 3, total: 3 } });
    await backend.events.settled();
    backend.events.send(...backend.events.log);
    await backend.events.settled();
    await rpc.request("tasks/get", { taskId });
    await rpc.request("tasks/result", { taskId });
    await clock.advance(120_000);
    expect(listening.messages).toHaveLength(length);
  });

  test("is nothing after a cancellation, whatever the backend still does", async () => {
    const fake = { onCancel: () => {} };
    const clock = fakeClock();
    const { url, backend } = await serve({
      tools: [job],
      clock,
      store: memoryStore({ clock }),
      fake: { clock, ...fake },
    });
    const rpc = await rpc2025(url);
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc, "job", withToken(7));
    await rpc.request("tasks/cancel", { taskId });
    await listening.find(isStatus("cancelled"));
    backend.of().progress({ done: 2, total: 3 });
    backend.of().succeed("too late");
    await backend.events.settled();
    await clock.advance(60_000);
    expect(statusesOn(listening)).toHaveLength(1);
    expect(progressOn(listening)).toEqual([]);
  });

  test("is at most one state a second while nothing but the progress changes, and the newest", async () => {
    const { rpc, backend, clock } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc, "job", withToken(7));
    for (let step = 1; step <= 50; step++) {
      backend.of().progress({ done: step, total: 100 });
      await backend.events.settled();
      await clock.advance(100);
    }
    await clock.advance(1_000);
    await eventually(() => statusesOn(listening).some((task) => task?.statusMessage === "50 of 100"));
    expect(statusesOn(listening).length).toBeGreaterThan(3);
    expect(statusesOn(listening).length).toBeLessThanOrEqual(7);
    expect(progressOn(listening)).toHaveLength(statusesOn(listening).length);
    backend.of().progress({ done: 51, total: 100 });
    backend.of().succeed("done");
    // Ends are told at once.
    await listening.find(isStatus("completed"));
    expect(taskId).toBe(statusesOn(listening).at(-1)?.taskId);
  });

  test("that the tools have changed", async () => {
    const { rpc, server } = await open();
    server.toolsChanged();
    const listening = await rpc.listen();
    server.toolsChanged();
    const reported = await listening.find(({ method }) => method === "notifications/tools/list_changed");
    expect(reported.params ?? {}).toEqual({});
    expect(listening.messages).toHaveLength(1);
    expect(rpc.initialized).toMatchObject({ capabilities: { tools: { listChanged: true } } });
  });
});
