import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type Served, serve, stopAll } from "../serve.ts";
import { callForTask, isElicitation, job, questionsOn, relatedTo, reply, sentOn, yes } from "./task-calls.ts";

afterEach(stopAll);

const question = { message: "Sure?", schema: yes };
const acceptsTasks = {
  elicitation: { form: {} },
  tasks: { cancel: {}, requests: { elicitation: { create: {} } } },
};
const at = "2026-01-01T00:00:00Z";
const clientTask = (status: string, more: object = {}) => ({
  taskId: "theirs",
  status,
  createdAt: at,
  lastUpdatedAt: at,
  ttl: 60_000,
  pollInterval: 5_000,
  ...more,
});

/** A task that has just asked a client, and what that client was sent. */
const ask = async (capabilities: Record<string, unknown> = acceptsTasks) => {
  const clock = fakeClock();
  const served = await serve({ tools: [job], clock, store: memoryStore({ clock }), fake: { clock } });
  const session = await rpc2025(served.url, { capabilities });
  const stream = await session.listen();
  const taskId = await callForTask(session);
  served.backend.of().ask(question);
  const asked = await stream.find(isElicitation);
  const sent = (method: string) => sentOn(method, stream);
  /** Waits for the nth request of this method and answers it. */
  const answerNth = async (method: string, nth: number, result: Record<string, unknown>) => {
    await eventually(() => sent(method).length === nth);
    const request = sent(method)[nth - 1];
    await session.send({ id: request?.id, result });
    return request;
  };
  const answers = () => served.backend.of().answers;
  return { ...served, clock, session, stream, taskId, asked, sent, answerNth, answers };
};

describe("[B-13] a question that the client takes as a task", () => {
  test("is polled at the client's interval, and its result is the answer", async () => {
    const { asked, session, clock, sent, answerNth, answers, taskId, stream } = await ask();
    expect(asked.params).toMatchObject({ message: "Sure?", task: { ttl: 86_400_000 }, _meta: relatedTo(taskId) });
    await reply(session, asked, { task: clientTask("input_required") });
    for (let poll = 1; poll <= 3; poll++) {
      await clock.advance(4_900);
      expect(sent("tasks/get")).toHaveLength(poll - 1);
      await clock.advance(100);
      const request = await answerNth("tasks/get", poll, clientTask(poll < 3 ? "working" : "completed"));
      expect(request?.params).toEqual({ taskId: "theirs" });
    }
    const request = await answerNth("tasks/result", 1, { action: "accept", content: { ok: true } });
    expect(request?.params).toEqual({ taskId: "theirs" });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ action: "accept", content: { ok: true } });
    await clock.advance(60_000);
    expect(questionsOn(stream)).toHaveLength(1);
    expect(sent("tasks/cancel")).toEqual([]);
    expect(sent("notifications/cancelled")).toEqual([]);
  });

  test("may be over at once, and may be declined", async () => {
    const { asked, session, answerNth, answers } = await ask();
    await reply(session, asked, { task: clientTask("completed") });
    await answerNth("tasks/result", 1, { action: "decline" });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ action: "decline" });
  });

  test("and that its user dismisses there is asked again", async () => {
    const { asked, session, clock, answerNth, answers } = await ask();
    await reply(session, asked, { task: clientTask("working") });
    await clock.advance(5_000);
    await answerNth("tasks/get", 1, clientTask("cancelled"));
    await answerNth("elicitation/create", 2, { action: "accept", content: { ok: false } });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ content: { ok: false } });
  });

  test.each([
    ["said to have failed", { result: clientTask("failed", { statusMessage: "no user" }) }],
    ["forgotten", { error: { code: -32_602, message: "Unknown or expired task" } }],
    ["unreadable", { result: { nothing: "here" } }],
    ["taken for another", { result: clientTask("completed", { taskId: "another" }) }],
  ])("and that is %s there is asked of others at once, and there only after them", async (what, answer) => {
    const { asked, session, clock, sent, answers, stream, url, taskId } = await ask();
    const other = await rpc2025(url, { capabilities: { elicitation: {} } });
    const waiting = await other.open("tasks/result", { taskId });
    await reply(session, asked, { task: clientTask("working") });
    await clock.advance(5_000);
    await eventually(() => sent("tasks/get").length === 1);
    await session.send({ id: sent("tasks/get")[0]?.id, ...answer });
    if (what === "said to have failed") {
      await eventually(() => sent("tasks/result").length === 1);
      await session.send({ id: sent("tasks/result")[0]?.id, error: { code: -32_603, message: "no user" } });
    }
    await waiting.find(isElicitation);
    for (let turn = 0; turn < 6; turn++) await clock.advance(10_000);
    expect(questionsOn(stream)).toHaveLength(1);
    expect(sent("tasks/get")).toHaveLength(1);
    waiting.close();
    await other.end();
    await stream.find(({ id, method }) => method === "elicitation/create" && id !== asked.id);
    await reply(session, questionsOn(stream)[1] ?? asked, { action: "accept", content: { ok: false } });
    await eventually(() => answers().length === 1);
    expect(answers()).toMatchObject([{ content: { ok: false } }]);
  });

  test.each(["our task is cancelled", "it is answered elsewhere"])("is cancelled there when %s, once", async (why) => {
    const { asked, session, clock, sent, answerNth, answers, taskId, rpc } = await ask();
    await reply(session, asked, { task: clientTask("working") });
    await clock.advance(5_000);
    await answerNth("tasks/get", 1, clientTask("working"));
    if (why === "our task is cancelled") await session.request("tasks/cancel", { taskId });
    else await answerOnOtherWire(rpc, taskId);
    const cancel = await answerNth("tasks/cancel", 1, clientTask("cancelled"));
    expect(cancel?.params).toEqual({ taskId: "theirs" });
    await clock.advance(60_000);
    expect(sent("tasks/cancel")).toHaveLength(1);
    expect(sent("tasks/get")).toHaveLength(1);
    expect(answers()).toHaveLength(why === "our task is cancelled" ? 0 : 1);
  });

  test("is cancelled there on the tasks/result that is answered with the end", async () => {
    const { session, stream, backend } = await ask();
    stream.close();
    await inTime(stream.ended);
    for (let round = 0; round < 3; round++) {
      const taskId = await callForTask(session);
      const waiting = await session.open("tasks/result", { taskId }, { id: "wait" });
      backend.of().ask(question);
      await reply(session, await waiting.find(isElicitation), { task: clientTask("working") });
      await session.request("tasks/cancel", { taskId });
      await inTime(waiting.ended);
      expect(sentOn("tasks/cancel", waiting)).toHaveLength(1);
      expect(waiting.messages.at(-1)?.error).toMatchObject({ code: -32_603 });
    }
  });

  test("is left alone when the client's tasks cannot be cancelled", async () => {
    const { cancel: _cancel, ...tasks } = acceptsTasks.tasks;
    const { asked, session, clock, sent, taskId } = await ask({ ...acceptsTasks, tasks });
    await reply(session, asked, { task: clientTask("working") });
    await session.request("tasks/cancel", { taskId });
    await clock.advance(60_000);
    expect(sent("tasks/cancel")).toEqual([]);
    expect(sent("tasks/get")).toEqual([]);
  });

  test("is taken back as a request while the client has not made a task of it", async () => {
    const { asked, session, sent, taskId } = await ask();
    await session.request("tasks/cancel", { taskId });
    await eventually(() => sent("notifications/cancelled").length === 1);
    expect(sent("notifications/cancelled")[0]?.params).toMatchObject({ requestId: asked.id });
    expect(sent("tasks/cancel")).toEqual([]);
  });

  test("counts as well when the client answers it directly, after a status that nobody asked for", async () => {
    const { asked, session, answers } = await ask();
    const status = await session.send({ method: "notifications/tasks/status", params: clientTask("working") });
    expect(status).toBe(202);
    await reply(session, asked);
    await eventually(() => answers().length === 1);
  });

  test("is polled on when the client comes back to another stream", async () => {
    const { asked, session, stream, clock, answers } = await ask();
    await reply(session, asked, { task: clientTask("working") });
    stream.close();
    await inTime(stream.ended);
    await clock.advance(5_000);
    let again = await session.listen();
    await eventually(async () => {
      if (again.status !== 200) again = await session.listen();
      return again.status === 200;
    });
    await clock.advance(5_000);
    const poll = await again.find(({ method }) => method === "tasks/get");
    await session.send({ id: poll.id, result: clientTask("completed") });
    const fetched = await again.find(({ method }) => method === "tasks/result");
    await session.send({ id: fetched.id, result: { action: "accept", content: { ok: true } } });
    await eventually(() => answers().length === 1);
    expect(questionsOn(stream, again)).toHaveLength(1);
  });

  test("is a plain request where the client did not declare tasks for it", async () => {
    for (const tasks of [{}, { requests: { sampling: { createMessage: {} } } }]) {
      const { asked, session, answers } = await ask({ elicitation: {}, tasks });
      expect(asked.params).not.toHaveProperty("task");
      await reply(session, asked);
      await eventually(() => answers().length === 1);
    }
  });
});

const answerOnOtherWire = async (rpc: Served["rpc"], taskId: string): Promise<void> => {
  const modern = { capabilities: { elicitation: {} } };
  const { inputRequests } = (await rpc("tasks/get", { taskId }, modern)).result;
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests as object).map((key) => [key, { action: "accept", content: { ok: false } }]),
  );
  await rpc("tasks/update", { taskId, inputResponses }, modern);
};
