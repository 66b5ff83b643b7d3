import { afterEach, describe, expect, test } from "@jest/globals";
import type { Prepare, ToolDefinition } from "@taskbridge/core";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { form, isElicitation, questionsOn, reply, sentOn } from "./task-calls.ts";

afterEach(stopAll);

const nameSchema = { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] };

/** Asks for a name, then for a confirmation. */
const prepare: Prepare = (input, answers) => {
  const { who, sure } = answers;
  if (who === undefined) return { questions: { who: { message: "Who?", schema: nameSchema } } };
  if (who.action !== "accept") return { refused: "No name, no job." };
  if (sure === undefined) return { questions: { sure: { message: "Sure?" } } };
  return { input: { ...input, who: (who.content as { name: string }).name, sure: sure.action } };
};
const secretSchema = { type: "object", properties: { token: { type: "string", format: "password" } } };
const tools: readonly ToolDefinition[] = [
  { name: "job", adapter: "fake", target: { run: "job" }, prepare },
  {
    name: "secret",
    adapter: "fake",
    target: { run: "job" },
    prepare: () => ({ questions: { token: { message: "Token?", schema: secretSchema } } }),
  },
  {
    name: "endless",
    adapter: "fake",
    target: { run: "job" },
    prepare: (_input, answers) => ({ questions: { [`again${Object.keys(answers).length}`]: { message: "Again?" } } }),
  },
  {
    name: "thorough",
    adapter: "fake",
    target: { run: "job" },
    prepare: (input, answers) => {
      const round = Object.keys(answers).length;
      return round === 20 ? { input } : { questions: { [`more${round}`]: { message: "And?" } } };
    },
  },
];

const ada = { action: "accept", content: { name: "Ada" } };

const open = async (capabilities: Record<string, unknown> = form) => {
  const served = await serve({ tools });
  return { ...served, rpc: await rpc2025(served.url, { capabilities }) };
};

describe.each([
  ["a call for a task", { task: {} }],
  ["a plain call", {}],
])("[B-28] what a tool asks before it starts: %s", (_what, params) => {
  const call = { name: "job", arguments: { a: 1 }, ...params };
  const isTask = "task" in params;

  test("is asked round by round on the stream of the call, without a task", async () => {
    const { rpc, backend } = await open();
    const stream = await rpc.open("tools/call", call, { id: "call" });
    const first = await stream.find(isElicitation);
    expect(first.params).toEqual({ mode: "form", message: "Who?", requestedSchema: nameSchema });
    await reply(rpc, first, ada);
    await eventually(() => questionsOn(stream).length === 2);
    const second = questionsOn(stream)[1];
    expect(second?.params).toMatchObject({ message: "Sure?" });
    expect(backend.starts()).toBe(0);
    await rpc.send({ id: second?.id, result: { action: "decline" } });
    const { result } = await stream.find(({ id }) => id === "call");
    expect(result).toMatchObject(
      isTask ? { task: { status: "working" } } : { structuredContent: { taskStatus: "working" } },
    );
    expect(JSON.parse(backend.of().input)).toEqual({ a: 1, who: "Ada", sure: "decline" });
    expect(sentOn("notifications/cancelled", stream)).toEqual([]);
  });

  test("decides that nothing starts", async () => {
    const { rpc, backend } = await open();
    const stream = await rpc.open("tools/call", call, { id: "call" });
    await reply(rpc, await stream.find(isElicitation), { action: "cancel" });
    const { result, error } = await stream.find(({ id }) => id === "call");
    if (isTask) expect(error).toMatchObject({ code: -32_602, message: "No name, no job." });
    else expect(result).toMatchObject({ isError: true, content: [{ text: "No name, no job." }] });
    expect(backend.starts()).toBe(0);
  });

  test("is asked again with the reason when the answer does not fit, three times", async () => {
    const { rpc, backend } = await open();
    const stream = await rpc.open("tools/call", call, { id: "call" });
    for (const [index, content] of [{}, { name: "" }, { name: 5 }].entries()) {
      await eventually(() => questionsOn(stream).length === index + 1);
      const asked = questionsOn(stream)[index];
      if (index > 0) expect(asked?.params?.message).toMatch(/^Who\?\n\n.*did not fit.*name/s);
      await rpc.send({ id: asked?.id, result: { action: "accept", content } });
    }
    const { error } = await stream.find(({ id }) => id === "call");
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining("who.content") });
    expect(questionsOn(stream)).toHaveLength(3);
    expect(backend.starts()).toBe(0);
  });

  test.each([
    ["job", {}, "Who?"],
    ["secret", form, "Token?"],
  ])("of %s is told where it cannot be asked", async (name, capabilities, reported) => {
    const { rpc, backend } = await open(capabilities);
    const answer = await rpc.request("tools/call", { ...call, name });
    const text = isTask ? answer.error.message : JSON.stringify(answer.result.content);
    expect(text).toContain(reported);
    expect(answer.messages).toHaveLength(1);
    expect(backend.starts()).toBe(0);
  });

  test("is told as the reason when the client cannot put it after all", async () => {
    const { rpc, backend } = await open();
    const stream = await rpc.open("tools/call", call, { id: "call" });
    const { id: asked } = await stream.find(isElicitation);
    await rpc.send({ id: asked, error: { code: -32_603, message: "nobody is here" } });
    const { result, error } = await stream.find(({ id }) => id === "call");
    const text = isTask ? error?.message : JSON.stringify(result?.content);
    expect(text).toMatch(/job.*Who\?.*nobody is here/s);
    if (isTask) expect(error?.code).toBe(-32_602);
    expect(backend.starts()).toBe(0);
  });

  test("may need twenty answers", async () => {
    const { rpc, backend } = await open();
    const stream = await rpc.open("tools/call", { ...call, name: "thorough" }, { id: "call" });
    for (let round = 0; round < 20; round++) {
      await eventually(() => questionsOn(stream).length === round + 1);
      await rpc.send({ id: questionsOn(stream)[round]?.id, result: { action: "accept" } });
    }
    await eventually(() => backend.starts() === 1);
    expect(questionsOn(stream)).toHaveLength(20);
    stream.close();
  });

  test("comes to an end", async () => {
    const { rpc, backend } = await open();
    const stream = await rpc.open("tools/call", { ...call, name: "endless" }, { id: "call" });
    for (let round = 0; round < 20; round++) {
      await eventually(() => questionsOn(stream).length === round + 1);
      await rpc.send({ id: questionsOn(stream)[round]?.id, result: { action: "accept" } });
    }
    const { result, error } = await stream.find(({ id }) => id === "call");
    expect(isTask ? error?.message : JSON.stringify(result)).toContain("without coming to an end");
    expect(backend.starts()).toBe(0);
  });

  test("is taken back with the call, and nothing starts", async () => {
    const { rpc, backend } = await open();
    const listening = await rpc.listen();
    const stream = await rpc.open("tools/call", call, { id: "call" });
    const asked = await stream.find(isElicitation);
    await rpc.send({ method: "notifications/cancelled", params: { requestId: "call", reason: "changed my mind" } });
    await inTime(stream.ended);
    expect(await reply(rpc, asked, ada)).toBe(202);
    expect(questionsOn(stream, listening)).toHaveLength(1);
    expect(stream.messages.some(({ id }) => id === "call")).toBe(false);
    expect(backend.starts()).toBe(0);
  });

  test("is given up when the client leaves the call", async () => {
    const { rpc, backend, server } = await open();
    const stream = await rpc.open("tools/call", call, { id: "call" });
    const asked = await stream.find(isElicitation);
    stream.close();
    await inTime(stream.ended);
    const listening = await rpc.listen();
    await rpc.request("tools/list");
    await reply(rpc, asked, ada);
    await rpc.request("tools/list");
    expect(questionsOn(listening)).toEqual([]);
    expect(backend.starts()).toBe(0);
    await inTime(server.close());
  });
});
