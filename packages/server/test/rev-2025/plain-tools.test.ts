import { afterEach, describe, expect, test } from "@jest/globals";
import { type CallToolResult, inputRequired } from "@modelcontextprotocol/server";
import type { PlainTool } from "../../src/index.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { form, isElicitation, questionsOn, reply, sentOn } from "./task-calls.ts";

afterEach(stopAll);

const text = (value: unknown): CallToolResult => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
const elicit = (message: string) => inputRequired.elicit({ message, requestedSchema });

const plainTools: readonly PlainTool[] = [
  {
    name: "greet",
    inputSchema: { type: "object" },
    call: async (_args, { inputResponses, readState, mintState }) => {
      const round = Number(readState()?.round ?? 0);
      if (round < 2) {
        const requestState = await mintState({ round: round + 1 });
        return inputRequired({ inputRequests: { [`q${round}`]: elicit(`Question ${round}`) }, requestState });
      }
      return text({ round, inputResponses });
    },
  },
  {
    name: "several",
    inputSchema: { type: "object" },
    call: (_args, { inputResponses }) =>
      inputResponses === undefined
        ? inputRequired({ inputRequests: { one: elicit("One"), two: elicit("Two") } })
        : text(inputResponses),
  },
  {
    name: "model",
    inputSchema: { type: "object" },
    call: (_args, { inputResponses }) =>
      inputResponses === undefined
        ? inputRequired({
            inputRequests: {
              answer: inputRequired.createMessage({
                messages: [{ role: "user", content: { type: "text", text: "Hi" } }],
                maxTokens: 5,
              }),
            },
          })
        : text(inputResponses),
  },
  {
    name: "endless",
    inputSchema: { type: "object" },
    call: () => inputRequired({ inputRequests: { again: elicit("Again") } }),
  },
];

const open = async (capabilities: Record<string, unknown> = form) => {
  const served = await serve({ plainTools });
  return { ...served, rpc: await rpc2025(served.url, { capabilities }) };
};

const textOf = ({ result }: { readonly result?: Record<string, unknown> }): string =>
  String((result?.content as { text?: unknown }[] | undefined)?.[0]?.text);

describe("[B-28] a plain tool that asks", () => {
  test("is called again with each answer and its own state", async () => {
    const { rpc } = await open();
    const stream = await rpc.open("tools/call", { name: "greet", arguments: {} }, { id: "call" });
    for (const round of [0, 1]) {
      await eventually(() => questionsOn(stream).length === round + 1);
      const asked = questionsOn(stream)[round];
      expect(asked?.params).toMatchObject({ message: `Question ${round}`, requestedSchema });
      await rpc.send({ id: asked?.id, result: { action: "accept", content: { name: `n${round}` } } });
    }
    const answer = await stream.find(({ id }) => id === "call");
    expect(answer.result).not.toHaveProperty("resultType");
    expect(JSON.parse(textOf(answer))).toEqual({
      round: 2,
      inputResponses: { q1: { action: "accept", content: { name: "n1" } } },
    });
    expect(sentOn("notifications/cancelled", stream)).toEqual([]);
  });

  test("gets the answers to several questions at once", async () => {
    const { rpc } = await open();
    const stream = await rpc.open("tools/call", { name: "several", arguments: {} }, { id: "call" });
    await eventually(() => questionsOn(stream).length === 2);
    for (const asked of [...questionsOn(stream)].reverse()) {
      await reply(rpc, asked, { action: "accept", content: { name: String(asked.params?.message) } });
    }
    expect(JSON.parse(textOf(await stream.find(({ id }) => id === "call")))).toEqual({
      one: { action: "accept", content: { name: "One" } },
      two: { action: "accept", content: { name: "Two" } },
    });
  });

  test.each([
    ["greet", {}, "elicitation"],
    ["greet", { elicitation: { url: {} } }, "elicitation"],
    ["model", form, "sampling"],
  ])("%s is not asked of a client that declares %j, which is told so", async (name, capabilities, reported) => {
    const { rpc } = await open(capabilities);
    const answer = await rpc.request("tools/call", { name, arguments: {} });
    expect(answer.messages).toHaveLength(1);
    expect(answer.result).toMatchObject({ isError: true });
    expect(textOf(answer)).toContain(reported);
  });

  test("may ask the model of a client that has one", async () => {
    const { rpc } = await open({ sampling: {} });
    const stream = await rpc.open("tools/call", { name: "model", arguments: {} }, { id: "call" });
    const asked = await stream.find(({ method }) => method === "sampling/createMessage");
    const message = { role: "assistant", model: "m", content: { type: "text", text: "Hello" } };
    await rpc.send({ id: asked.id, result: message });
    expect(JSON.parse(textOf(await stream.find(({ id }) => id === "call")))).toEqual({ answer: message });
  });

  test("is an error result when the client cannot put the question after all", async () => {
    const { rpc } = await open();
    const stream = await rpc.open("tools/call", { name: "several", arguments: {} }, { id: "call" });
    await eventually(() => questionsOn(stream).length === 2);
    const [one, two] = questionsOn(stream);
    await rpc.send({ id: one?.id, error: { code: -32_603, message: "nobody is here" } });
    const answer = await stream.find(({ id }) => id === "call");
    expect(answer.result).toMatchObject({ isError: true });
    expect(textOf(answer)).toContain("nobody is here");
    // Nobody waits for the other answer any more.
    expect(sentOn("notifications/cancelled", stream)).toMatchObject([{ params: { requestId: two?.id } }]);
  });

  test("comes to an end", async () => {
    const { rpc } = await open();
    const stream = await rpc.open("tools/call", { name: "endless", arguments: {} }, { id: "call" });
    const answered = new Set<unknown>();
    while (!stream.messages.some(({ id }) => id === "call")) {
      await eventually(
        () => questionsOn(stream).length > answered.size || stream.messages.some(({ id }) => id === "call"),
      );
      for (const asked of questionsOn(stream)) {
        if (answered.has(asked.id)) continue;
        answered.add(asked.id);
        await reply(rpc, asked, { action: "accept", content: {} });
      }
    }
    const { error } = await stream.find(({ id }) => id === "call");
    expect(error).toMatchObject({ code: -32_603, message: expect.stringContaining("without coming to an end") });
    expect(answered.size).toBe(20);
    expect(answered.size).toBeLessThanOrEqual(21);
  });

  test("gives up its question with its call", async () => {
    const { rpc } = await open();
    const stream = await rpc.open("tools/call", { name: "greet", arguments: {} }, { id: "call" });
    const asked = await stream.find(isElicitation);
    await rpc.send({ method: "notifications/cancelled", params: { requestId: "call" } });
    await inTime(stream.ended);
    expect(await reply(rpc, asked)).toBe(202);
    expect(stream.messages.some(({ id }) => id === "call")).toBe(false);
  });
});
