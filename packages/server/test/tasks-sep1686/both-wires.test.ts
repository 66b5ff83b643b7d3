import { afterEach, describe, expect, test } from "@jest/globals";
import { callForTask, form, isElicitation, yes } from "../rev-2025/task-calls.ts";
import { eventually, stopAll } from "../serve.ts";
import { answerOf, isCreated, open, related, type Sep1686Rpc, sep1686Rpc } from "./sep1686-session.ts";

afterEach(stopAll);

const openBoth = () => open({ session: { revision: "2025-11-25", capabilities: form } });

const tied = (draft: Sep1686Rpc, method: string, taskId: string) =>
  draft.request(method, { taskId, _meta: related(taskId) });

const inSep1686Form = { keepAlive: expect.any(Number), pollFrequency: expect.any(Number) };
const inOwnForm = { createdAt: expect.any(String), lastUpdatedAt: expect.any(String) };

describe("[M-2] one session of 2025-11-25 that speaks both generations", () => {
  test("is served the tasks of its revision as if it had never spoken the draft", async () => {
    const { draft, backend } = await openBoth();
    await draft.begin("c-1");
    const taskId = await callForTask(draft);
    expect((await draft.get(taskId)).result).toMatchObject(inOwnForm);
    expect((await draft.request("tasks/list")).result.tasks).toMatchObject([inOwnForm, inOwnForm]);
    const waiting = draft.request("tasks/result", { taskId });
    backend.executions[1]?.succeed("done");
    expect((await waiting).result).toMatchObject({ content: [{ text: '"done"' }] });
    const other = await callForTask(draft);
    expect((await draft.request("tasks/cancel", { taskId: other })).result).toMatchObject({ status: "cancelled" });
  });

  test("is served the draft where a request carries a key of it, and for all that only the draft has", async () => {
    const { draft, backend } = await openBoth();
    const own = await callForTask(draft);
    const stream = await draft.begin("c-1");
    for (const taskId of ["c-1", own]) {
      const { result } = await tied(draft, "tasks/get", taskId);
      expect(result).toMatchObject({ taskId, status: "working", ...inSep1686Form });
      expect(result).not.toHaveProperty("createdAt");
    }
    const { result } = await draft.request("tasks/list", { _meta: related("") });
    expect(result.tasks).toMatchObject([inSep1686Form, inSep1686Form]);
    expect((await tied(draft, "tasks/result", "c-1")).error.message).toContain("Task status is 'working'");
    backend.executions[1]?.succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ _meta: related("c-1") });
    for (const taskId of ["c-1", own]) {
      expect((await draft.request("tasks/delete", { taskId })).result).toEqual({ _meta: related(taskId) });
    }
  });

  test("cancels a task whose ID it has chosen by either generation", async () => {
    const { draft, backend } = await openBoth();
    await draft.begin("c-1", { id: "call" });
    const second = await draft.begin("c-2");
    await draft.send({ method: "notifications/cancelled", params: { requestId: "call" } });
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    expect((await draft.request("tasks/cancel", { taskId: "c-2" })).result).toMatchObject({
      status: "cancelled",
      ...inOwnForm,
    });
    expect((await answerOf(second)).error?.message).toBe("Task was cancelled");
    await eventually(() => backend.callsOf("cancel").length === 2);
  });

  test("has its user asked by the key of each task's own generation", async () => {
    const { draft, backend } = await openBoth();
    const listening = await draft.listen();
    const own = await callForTask(draft);
    (await draft.begin("c-1")).close();
    for (const { ask } of backend.executions) ask({ message: "Sure?", schema: yes });
    await eventually(async () => {
      for (const taskId of [own, "c-1"]) await draft.get(taskId);
      return listening.messages.filter(isElicitation).length === 2;
    });
    const metas = listening.messages.filter(isElicitation).map(({ params }) => params?._meta);
    expect(metas).toHaveLength(2);
    expect(metas).toContainEqual(related("c-1"));
    expect(metas).toContainEqual({ "io.modelcontextprotocol/related-task": { taskId: own } });
  });
});

describe("[M-2] one session of 2025-11-25 that leaves the draft's key out", () => {
  test("is understood about tasks whose IDs it has chosen, and about what it alone may mean", async () => {
    const { draft, backend } = await openBoth();
    const stream = await draft.begin("c-1");
    expect((await draft.get("c-1")).result).toMatchObject({ status: "working", ...inSep1686Form });
    expect((await draft.request("tasks/result", { taskId: "c-1" })).error.message).toContain("'working'");
    expect((await draft.request("tasks/list")).result.tasks).toMatchObject([{ taskId: "c-1", ...inSep1686Form }]);
    expect((await draft.get("never")).error.message).toBe("Failed to retrieve task: Task not found");
    backend.of().succeed("done");
    await answerOf(stream);
    expect((await draft.request("tasks/result", { taskId: "c-1" })).result).toMatchObject({ _meta: related("c-1") });
  });

  test("before it has spoken the draft, is served its revision, whoever has chosen the ID", async () => {
    const { draft, url } = await openBoth();
    const other = await sep1686Rpc(url);
    await (await other.call("c-1")).find(isCreated);
    expect((await draft.get("c-1")).result).toMatchObject(inOwnForm);
    expect((await draft.request("tasks/list")).result.tasks).toMatchObject([inOwnForm]);
    expect((await draft.get("never")).error.message).toBe("Task not found");
  });

  test("where 2025-11-25 is not served at all, can only mean the draft", async () => {
    const { draft } = await open({ wires: ["sep-1686"], session: { revision: "2025-11-25" } });
    await draft.begin("c-1");
    expect((await draft.get("c-1")).result).toMatchObject(inSep1686Form);
    expect((await draft.request("tasks/cancel", { taskId: "c-1" })).error.code).toBe(-32_601);
  });
});
