import { afterEach, describe, expect, test } from "@jest/globals";
import { callForTask as callForOlderTask } from "../rev-2025/task-calls.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { callForTask } from "../rpc-client.ts";
import { stopAll } from "../serve.ts";
import { answerOf, open, related } from "./sep1686-session.ts";

afterEach(stopAll);

const _notFound = { code: -32_602, message: "Failed to retrieve task: Task not found" };
const _methods = ["tasks/get", "tasks/result", "tasks/delete"] as const;

describe("one task on every wire", () => {
  test("started here, it is read by the same owner on the others", async () => {
    const { draft, url, rpc, backend } = await open();
    const stream = await draft.begin("c-1");
    const older = await rpc2025(url);
    expect((await older.request("tasks/get", { taskId: "c-1" })).result).toMatchObject({ status: "working" });
    expect((await rpc("tasks/get", { taskId: "c-1" })).result).toMatchObject({ taskId: "c-1", status: "working" });
    const waiting = older.request("tasks/result", { taskId: "c-1" });
    backend.of().succeed("done");
    const content = [{ type: "text", text: '"done"' }];
    expect((await answerOf(stream)).result).toMatchObject({ content });
    expect((await waiting).result).toMatchObject({ content });
    expect((await rpc("tasks/get", { taskId: "c-1" })).result).toMatchObject({
      status: "completed",
      result: { content },
    });
    expect(backend.starts()).toBe(1);
  });

  test("started on another, it is read here", async () => {
    const { draft, url, backend, rpc } = await open();
    const older = await callForOlderTask(await rpc2025(url));
    const newer = await callForTask(rpc);
    backend.executions[0]?.succeed("older");
    backend.executions[1]?.succeed("newer");
    await backend.events.settled();
    for (const [taskId, text] of [
      [older, '"older"'],
      [newer, '"newer"'],
    ] as const) {
      const { result } = await draft.request("tasks/result", { taskId });
      expect(result).toMatchObject({ content: [{ text }], _meta: related(taskId) });
    }
  });

  test("cancelled on another, its call is told so", async () => {
    const { draft, url } = await open();
    const stream = await draft.begin("c-1");
    const older = await rpc2025(url);
    expect((await older.request("tasks/cancel", { taskId: "c-1" })).result).toMatchObject({ status: "cancelled" });
    expect((await answerOf(stream)).error).toMatchObject({ code: -32_603, message: "Task was cancelled" });
    expect(await draft.statusOf("c-1")).toBe("cancelled");
  });
});
