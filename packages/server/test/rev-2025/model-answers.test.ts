import { afterEach, describe, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { callForTask, isElicitation, job, relatedTo, sentOn, yes } from "./task-calls.ts";

afterEach(stopAll);

const isSampling = ({ method }: Message): boolean => method === "sampling/createMessage";
const says = (text: string) => ({ role: "assistant", model: "m", content: { type: "text", text } });

const open = async (capabilities: Record<string, unknown>, allowModelAnswers = true) => {
  const served = await serve({ tools: [job], allowModelAnswers });
  const rpc = await rpc2025(served.url, { capabilities });
  const stream = await rpc.listen();
  const taskId = await callForTask(rpc);
  const answers = () => served.backend.of().answers;
  const status = async () => (await rpc.request("tasks/get", { taskId })).result.status;
  return { ...served, session: rpc, stream, taskId, answers, status };
};

describe("[B-29] a client's model", () => {
  test("answers where the operator allows it and no person can be asked", async () => {
    const { session, backend, stream, answers, taskId, status } = await open({ sampling: {} });
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await stream.find(isSampling);
    expect(asked.params).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Sure?" } }],
      systemPrompt: expect.stringContaining("JSON"),
      maxTokens: expect.any(Number),
      _meta: relatedTo(taskId),
    });
    expect(asked.params).not.toHaveProperty("task");
    expect(await status()).toBe("input_required");
    await session.send({ id: asked.id, result: says('```json\n{"ok": true}\n```') });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ action: "accept", content: { ok: true } });
  });

  test("is asked again when it answers something else, and given up after three", async () => {
    const { session, backend, stream, answers, status } = await open({ sampling: {} });
    backend.of().ask({ message: "Sure?", schema: yes });
    for (const [index, text] of ["Well…", '{"ok": "maybe"}', "I cannot tell"].entries()) {
      await eventually(() => sentOn("sampling/createMessage", stream).length === index + 1);
      await session.send({ id: sentOn("sampling/createMessage", stream)[index]?.id, result: says(text) });
    }
    await eventually(async () => (await status()) === "working");
    expect(answers()).toEqual([]);
    expect(sentOn("sampling/createMessage", stream)).toHaveLength(3);
  });

  test("is asked by a task where the client takes such", async () => {
    const tasks = { requests: { sampling: { createMessage: {} } } };
    const { session, backend, stream, answers } = await open({ sampling: {}, tasks });
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await stream.find(isSampling);
    expect(asked.params).toMatchObject({ task: { ttl: expect.any(Number) } });
    const at = "2026-01-01T00:00:00Z";
    const task = { taskId: "theirs", status: "completed", createdAt: at, lastUpdatedAt: at, ttl: null };
    await session.send({ id: asked.id, result: { task } });
    const fetched = await stream.find(({ method }) => method === "tasks/result");
    await session.send({ id: fetched.id, result: says("DECLINE") });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ action: "decline" });
  });

  test.each([
    ["where a person can be asked", { sampling: {}, elicitation: {} }, true, { schema: yes }, "input_required"],
    ["unless the operator allows it", { sampling: {} }, false, { schema: yes }, "working"],
    [
      "for a secret",
      { sampling: {} },
      true,
      { schema: { type: "object", properties: { token: { type: "string", format: "password" } } } },
      "working",
    ],
    ["to open a page", { sampling: {} }, true, { url: "https://sign.example/1" }, "working"],
  ])("is never asked %s", async (_when, capabilities, allowed, asks, expected) => {
    const { session, backend, stream, status, taskId } = await open(capabilities, allowed);
    const waiting = await session.open("tasks/result", { taskId });
    backend.of().ask({ message: "Sure?", ...asks });
    if (expected === "input_required") await waiting.find(isElicitation);
    await backend.events.settled();
    expect(await status()).toBe(expected);
    backend.of().succeed("done");
    await inTime(waiting.ended);
    expect([stream, waiting].flatMap(({ messages }) => messages.filter(isSampling))).toEqual([]);
  });

  test("is not asked when the person at the same client has not answered", async () => {
    const { session, backend, stream, taskId } = await open({ sampling: {}, elicitation: {} });
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await stream.find(isElicitation);
    await session.send({ id: asked.id, error: { code: -32_603, message: "nobody is here" } });
    const waiting = await session.open("tasks/result", { taskId });
    backend.of().succeed("done");
    await inTime(waiting.ended);
    expect([stream, waiting].flatMap(({ messages }) => messages.filter(isSampling))).toEqual([]);
  });
});
