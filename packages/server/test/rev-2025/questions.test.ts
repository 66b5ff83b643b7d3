import { afterEach, describe, expect, test } from "@jest/globals";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { callForTask, form, isElicitation, job, questionsOn, relatedTo, reply, sentOn, yes } from "./task-calls.ts";

afterEach(stopAll);

const open = async (capabilities: Record<string, unknown> = form, options: ServeOptions = {}) => {
  const served = await serve({ tools: [job], ...options });
  const rpc = await rpc2025(served.url, { capabilities });
  return { ...served, rpc };
};

const statusOf = async (rpc: Rpc2025, taskId: string) => (await rpc.request("tasks/get", { taskId })).result;

describe("[B-14] a question of a task", () => {
  test("[B-12] goes out on the open tasks/result, and its answer to the backend", async () => {
    const { rpc, backend } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc);
    const waiting = await rpc.open("tasks/result", { taskId }, { id: "wait" });
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await waiting.find(isElicitation);
    expect(asked.params).toEqual({
      mode: "form",
      message: "Sure?",
      requestedSchema: yes,
      _meta: relatedTo(taskId),
    });
    expect(await statusOf(rpc, taskId)).toMatchObject({ status: "input_required" });
    expect(await reply(rpc, asked)).toBe(202);
    await eventually(() => backend.of().answers.length === 1);
    expect(backend.of().answers[0]).toMatchObject({ action: "accept", content: { ok: true }, deliveries: 1 });
    await eventually(async () => (await statusOf(rpc, taskId)).status === "working");
    backend.of().succeed("done");
    const result = await waiting.find(({ id }) => id === "wait");
    expect(result.result).toMatchObject({ content: [{ text: '"done"' }], _meta: relatedTo(taskId) });
    expect(questionsOn(waiting)).toHaveLength(1);
    expect(questionsOn(listening)).toEqual([]);
    expect(sentOn("notifications/cancelled", waiting, listening)).toEqual([]);
  });

  test("without an open tasks/result, goes out on the session's own stream", async () => {
    const { rpc, backend } = await open();
    const taskId = await callForTask(rpc);
    backend.of().ask({ message: "Sure?", schema: yes });
    await backend.events.settled();
    const listening = await rpc.listen();
    const asked = await listening.find(isElicitation);
    expect(asked.params).toMatchObject({ message: "Sure?", _meta: relatedTo(taskId) });
    await reply(rpc, asked);
    await eventually(() => backend.of().answers.length === 1);
    expect(questionsOn(listening)).toHaveLength(1);
    expect(sentOn("notifications/cancelled", listening)).toEqual([]);
  });

  test("is asked of a client that comes for the result only once it is asked", async () => {
    const { rpc, backend } = await open();
    const taskId = await callForTask(rpc);
    backend.of().ask({ message: "Sure?", schema: yes });
    await backend.events.settled();
    const waiting = await rpc.open("tasks/result", { taskId });
    await reply(rpc, await waiting.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
  });

  test("reaches another session of the same owner that asks about the task", async () => {
    const { rpc, backend, url } = await open();
    const taskId = await callForTask(rpc);
    await rpc.end();
    const other = await rpc2025(url, { capabilities: form });
    const listening = await other.listen();
    backend.of().ask({ message: "Sure?", schema: yes });
    await backend.events.settled();
    expect(await statusOf(other, taskId)).toMatchObject({ status: "input_required" });
    await reply(other, await listening.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
  });

  test("a page has an elicitationId, and what is done there is noticed by the backend alone", async () => {
    const { rpc, backend } = await open({ elicitation: { form: {}, url: {} } });
    const taskId = await callForTask(rpc);
    const [waiting, listening] = [await rpc.open("tasks/result", { taskId }), await rpc.listen()];
    backend.of().ask({ message: "Sign", url: "https://sign.example/1" });
    const asked = await waiting.find(isElicitation);
    expect(asked.params).toEqual({
      mode: "url",
      message: "Sign",
      url: "https://sign.example/1",
      elicitationId: expect.stringContaining(taskId),
      _meta: relatedTo(taskId),
    });
    await reply(rpc, asked, { action: "accept" });
    expect(await statusOf(rpc, taskId)).toMatchObject({ status: "input_required" });
    expect(backend.of().answers).toEqual([]);
    backend.of().withdraw();
    backend.of().succeed("signed");
    await inTime(waiting.ended);
    expect(questionsOn(waiting, listening)).toHaveLength(1);
    expect(sentOn("notifications/cancelled", waiting, listening)).toEqual([]);
  });

  test("[B-6] in a mode that the client did not declare is withheld, and the status says what it waits for", async () => {
    const { rpc, backend } = await open({});
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc);
    const waiting = await rpc.open("tasks/result", { taskId });
    backend.of().ask({ message: "Sure?", schema: yes });
    await backend.events.settled();
    const task = await statusOf(rpc, taskId);
    expect(task.status).toBe("working");
    expect(task.statusMessage).toContain("Sure?");
    backend.of().succeed("anyway");
    await inTime(waiting.ended);
    expect(questionsOn(waiting, listening)).toEqual([]);
  });

  test("[B-12] that asks for a secret is never sent as a form", async () => {
    const { rpc, backend } = await open();
    const listening = await rpc.listen();
    const taskId = await callForTask(rpc);
    const waiting = await rpc.open("tasks/result", { taskId });
    const properties = { password: { type: "string", format: "password" } };
    backend.of().ask({ message: "Password?", schema: { type: "object", properties } });
    await backend.events.settled();
    expect(await statusOf(rpc, taskId)).toMatchObject({ status: "working" });
    backend.of().stop();
    await inTime(waiting.ended);
    expect(questionsOn(waiting, listening)).toEqual([]);
  });

  test("several at once are each asked once, and answered in any order", async () => {
    const { rpc, backend } = await open();
    const taskId = await callForTask(rpc);
    const waiting = await rpc.open("tasks/result", { taskId });
    for (const name of ["one", "two", "three"]) backend.of().ask({ name, message: name, schema: yes });
    await eventually(() => questionsOn(waiting).length === 3);
    for (const asked of [...questionsOn(waiting)].reverse()) await reply(rpc, asked);
    await eventually(() => backend.of().answers.length === 3);
    expect(
      backend
        .of()
        .answers.map(({ questionId }) => questionId)
        .sort(),
    ).toEqual(["one#1", "three#1", "two#1"]);
    expect(backend.of().answers.every(({ deliveries }) => deliveries === 1)).toBe(true);
    expect(questionsOn(waiting)).toHaveLength(3);
  });

  test("of a task that asks when it starts is put after the call was answered", async () => {
    const { rpc, backend } = await open(form, {
      fake: { scripts: { job: (run) => run.ask({ message: "Sure?", schema: yes }) } },
    });
    const listening = await rpc.listen();
    const created = await rpc.request("tools/call", { name: "job", arguments: {}, task: {} });
    expect(created.result).toMatchObject({ task: { status: "working" } });
    const reported = await listening.find(({ method }) => method === "notifications/tasks/status");
    expect(reported.params).toMatchObject({ status: "input_required" });
    await reply(rpc, await listening.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
  });
});
