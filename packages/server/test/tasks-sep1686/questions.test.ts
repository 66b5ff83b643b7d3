import { afterEach, describe, expect, test } from "@jest/globals";
import { callForTask, form, isElicitation, questionsOn, reply, sentOn, yes } from "../rev-2025/task-calls.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, stopAll } from "../serve.ts";
import { answerOf, isCreated, open, related } from "./sep1686-session.ts";

afterEach(stopAll);

const asking = { session: { capabilities: form } };

describe("[M-13] what a task asks", () => {
  test("[M-10] goes out once on the stream of its call, which goes on after the answer", async () => {
    const { draft, backend } = await open(asking);
    const listening = await draft.listen();
    const stream = await draft.begin("c-1");
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await stream.find(isElicitation);
    expect(asked.params).toEqual({ mode: "form", message: "Sure?", requestedSchema: yes, _meta: related("c-1") });
    expect(await draft.statusOf("c-1")).toBe("input_required");
    expect((await draft.request("tasks/result", { taskId: "c-1" })).error.message).toBe(
      "Cannot retrieve result: Task status is 'input_required', not 'completed'",
    );
    await reply(draft, asked);
    await eventually(() => backend.of().answers.length === 1);
    expect(backend.of().answers[0]).toMatchObject({ action: "accept", content: { ok: true }, deliveries: 1 });
    await eventually(async () => (await draft.statusOf("c-1")) === "working");
    backend.of().succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ isError: false });
    expect(questionsOn(stream)).toHaveLength(1);
    expect(listening.messages).toEqual([]);
    expect(sentOn("notifications/cancelled", stream)).toEqual([]);
  });

  test("from its very beginning goes out after the notice", async () => {
    const fake = {
      scripts: { job: (run: { ask(question: object): void }) => run.ask({ message: "Sure?", schema: yes }) },
    };
    const { draft, backend } = await open({ ...asking, fake });
    const stream = await draft.begin("c-1");
    await reply(draft, await stream.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
    expect(stream.messages.map(({ method }) => method)).toEqual(["notifications/tasks/created", "elicitation/create"]);
  });

  test("keeps the task at input_required until all of it is answered", async () => {
    const { draft, backend } = await open(asking);
    const stream = await draft.begin("c-1");
    backend.of().ask({ message: "One?", schema: yes });
    backend.of().ask({ message: "Two?", schema: yes });
    await eventually(() => questionsOn(stream).length === 2);
    const [one, two] = questionsOn(stream);
    if (one === undefined || two === undefined) throw new Error("there are no questions");
    await reply(draft, one);
    await eventually(() => backend.of().answers.length === 1);
    expect(await draft.statusOf("c-1")).toBe("input_required");
    await reply(draft, two);
    await eventually(async () => (await draft.statusOf("c-1")) === "working");
  });

  test("goes out on the session's own stream where the call's is lost, by a client that polls", async () => {
    const { draft, backend } = await open(asking);
    const stream = await draft.begin("c-1");
    stream.close();
    await stream.ended;
    const listening = await draft.listen();
    backend.of().ask({ message: "Sure?", schema: yes });
    await eventually(async () => (await draft.statusOf("c-1")) === "input_required");
    const asked = await listening.find(isElicitation);
    expect(asked.params).toMatchObject({ message: "Sure?", _meta: related("c-1") });
    await reply(draft, asked);
    await eventually(() => backend.of().answers.length === 1);
    expect(sentOn("notifications/tasks/status", listening)).toEqual([]);
  });

  test("of a client that cannot answer waits for another, and the task is working meanwhile", async () => {
    const { draft, url, backend } = await open();
    const stream = await draft.begin("c-1");
    backend.of().ask({ message: "Sure?", schema: yes });
    await backend.events.settled();
    expect(await draft.statusOf("c-1")).toBe("working");
    const older = await rpc2025(url, { capabilities: form });
    const wait = await older.open("tasks/result", { taskId: "c-1" });
    const asked = await wait.find(isElicitation);
    expect(asked.params?._meta).toEqual({ "io.modelcontextprotocol/related-task": { taskId: "c-1" } });
    await reply(older, asked);
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ isError: false });
    expect(questionsOn(stream)).toEqual([]);
  });

  test("of a task of 2025-11-25 is still tied by its own key in a session that speaks no draft", async () => {
    const { url, backend } = await open();
    const older = await rpc2025(url, { capabilities: form });
    const listening = await older.listen();
    const taskId = await callForTask(older);
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await listening.find(isElicitation);
    expect(asked.params?._meta).toEqual({ "io.modelcontextprotocol/related-task": { taskId } });
  });

  test("answers to what was never asked change nothing", async () => {
    const { draft, backend } = await open(asking);
    await draft.begin("c-1");
    for (const id of [0, 1, 999_999, "never"]) {
      await draft.send({ id, result: { action: "accept", content: { ok: true } } });
    }
    backend.of().ask({ message: "Sure?", schema: yes });
    await eventually(async () => (await draft.statusOf("c-1")) === "input_required");
    expect(backend.of().answers).toEqual([]);
  });
});

describe("what a tool asks before it starts", () => {
  const prepare = (input: object, answers: Readonly<Record<string, unknown>>) =>
    answers.sure === undefined ? { questions: { sure: { message: "Sure?" } } } : { input: { ...input, sure: true } };
  const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, prepare }];

  test("goes out on the stream of the call, before there is a task", async () => {
    const { draft, backend } = await open({ ...asking, tools });
    const stream = await draft.call("c-1");
    const asked = await stream.find(isElicitation);
    expect(asked.params).not.toHaveProperty("_meta");
    expect((await draft.get("c-1")).error.message).toContain("Task not found");
    await reply(draft, asked, { action: "accept", content: {} });
    await stream.find(isCreated);
    expect(backend.of().input).toBe('{"sure":true}');
  });

  test("is not asked for an ID that is used", async () => {
    const { draft } = await open({ ...asking, tools });
    const first = await draft.call("c-1");
    await reply(draft, await first.find(isElicitation), { action: "accept", content: {} });
    await first.find(isCreated);
    const again = await draft.call("c-1");
    expect((await answerOf(again)).error?.message).toBe("Task ID already exists: c-1");
    expect(again.messages).toHaveLength(1);
  });
});
