import { afterEach, describe, expect, test } from "@jest/globals";
import { inputRequired } from "@modelcontextprotocol/server";
import type { Prepare } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import type { PlainTool } from "../../src/index.ts";
import { send } from "../rev-2025/session-calls.ts";
import { callForTask, form, isElicitation, job, questionsOn, reply, yes } from "../rev-2025/task-calls.ts";
import { type MessageStream, rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime, serve } from "../serve.ts";
import { startFleet, stopFleet } from "./fleet.ts";

afterEach(stopFleet);

const requestedSchema = { type: "object" as const, properties: { ok: { type: "boolean" as const } } };
const greet: PlainTool = {
  name: "greet",
  inputSchema: { type: "object" },
  call: (_args, { inputResponses }) =>
    inputResponses === undefined
      ? inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema }) } })
      : { content: [{ type: "text", text: JSON.stringify(inputResponses) }] },
};
const prepare: Prepare = (input, { sure }) =>
  sure === undefined ? { questions: { sure: { message: "Sure?", schema: yes } } } : { input };

/** Two replicas, and one session at both. */
const open = async (capabilities: Record<string, unknown> = form) => {
  const clock = fakeClock();
  const tools = [job, { ...job, name: "careful", prepare }];
  const fleet = await startFleet(2, { clock, tools, plainTools: [greet], fake: { clock } });
  const [a, b] = fleet.replicas as [(typeof fleet.replicas)[0], (typeof fleet.replicas)[0]];
  const atA = await rpc2025(a.url, { capabilities });
  /** Replicas look for what was passed on by their own time. */
  const inTurns = (isTrue: () => unknown): Promise<void> =>
    eventually(async () => {
      await clock.advance(250);
      return isTrue();
    });
  return { ...fleet, a, b, clock, atA, atB: atA.at(b.url), inTurns };
};

const next = (stream: MessageStream, count: number): Message => questionsOn(stream)[count - 1] as Message;

describe("a reply that arrives at another replica than the one whose call waits for it", () => {
  test("to an ordinary tool is passed on", async () => {
    const { atA, atB, inTurns } = await open();
    const call = await atA.open("tools/call", { name: "greet" });
    expect(await reply(atB, await call.find(isElicitation))).toBe(202);
    await inTurns(() => call.messages.some(({ result }) => result !== undefined));
    const { result } = await call.find((message) => message.result !== undefined);
    expect(JSON.stringify(result)).toContain(String.raw`{\"who\":{\"action\":\"accept\",\"content\":{\"ok\":true}}}`);
  });

  test("to an ordinary tool is passed on when it is an error, too", async () => {
    const { atA, atB, inTurns } = await open();
    const call = await atA.open("tools/call", { name: "greet" });
    const { id } = await call.find(isElicitation);
    await atB.send({ id, error: { code: -32_603, message: "nobody is here" } });
    await inTurns(() => call.messages.some(({ result }) => result !== undefined));
    const { result } = await call.find((message) => message.result !== undefined);
    expect(JSON.stringify(result)).toContain("nobody is here");
  });

  test("to what a pipeline asks before it starts is passed on", async () => {
    const { atA, atB, inTurns, backend } = await open();
    const call = await atA.open("tools/call", { name: "careful", arguments: {}, task: {} });
    await reply(atB, await call.find(isElicitation));
    await inTurns(() => backend.starts() === 1);
    await call.find(({ result }) => result?.task !== undefined);
  });

  test("is not passed on for another session", async () => {
    const { atA, b, clock } = await open();
    const call = await atA.open("tools/call", { name: "greet" });
    const stranger = await rpc2025(b.url, { capabilities: form });
    const question = await call.find(isElicitation);
    await reply(stranger, question);
    await inTime(b.server.close());
    for (let turn = 0; turn < 5; turn++) await clock.advance(1_000);
    expect(call.messages.filter(({ result }) => result !== undefined)).toEqual([]);
    // The stop of the server waits for the call.
    await reply(atA, question);
    await call.find(({ result }) => result !== undefined);
  });
});

test("a reply is passed on by a store that others share but that tells no changes", async () => {
  const clock = fakeClock();
  const store = { ...memoryStore({ clock }), shared: true };
  expect(store).not.toHaveProperty("watch");
  const [a, b] = [
    await serve({ clock, store, plainTools: [greet] }),
    await serve({ clock, store, plainTools: [greet] }),
  ];
  const atA = await rpc2025(a.url, { capabilities: form });
  const call = await atA.open("tools/call", { name: "greet" });
  expect(await reply(atA.at(b.url), await call.find(isElicitation))).toBe(202);
  await eventually(async () => {
    await clock.advance(250);
    return call.messages.some(({ result }) => result !== undefined);
  });
});

test("replies to another replica are taken up to sixteen in one batch", async () => {
  const { a, b, clock, inTurns } = await open();
  const session = await rpc2025(a.url, { revision: "2025-03-26", capabilities: form });
  const calls: MessageStream[] = [];
  for (let count = 0; count < 17; count++) calls.push(await session.open("tools/call", { name: "greet" }));
  const batch = [];
  for (const call of calls) {
    const { id } = await call.find(isElicitation);
    batch.push({ jsonrpc: "2.0", id, result: { action: "accept", content: { ok: true } } });
  }
  const sent = await send(b.url, { body: batch, headers: { "mcp-session-id": session.sessionId } });
  expect(sent.status).toBe(202);
  const answered = () => calls.map(({ messages }) => messages.some(({ result }) => result !== undefined));
  await inTurns(() => answered().filter(Boolean).length === 16);
  for (let turn = 0; turn < 20; turn++) await clock.advance(250);
  expect(answered()).toEqual(calls.map((_, index) => index < 16));
  // The stop of the server waits for the last call.
  const last = calls.at(-1) as MessageStream;
  await reply(session, await last.find(isElicitation));
  await last.find(({ result }) => result !== undefined);
});

describe("a reply about a task that is no answer to its question", () => {
  const ask = async (capabilities: Record<string, unknown> = form) => {
    const fleet = await open(capabilities);
    await callForTask(fleet.atA);
    const own = await fleet.atA.listen();
    fleet.backend.of().ask({ message: "Sure?", schema: yes });
    await own.find(isElicitation);
    return { ...fleet, own };
  };

  test("has it asked once more, saying what does not fit", async () => {
    const { own, atB, inTurns, backend } = await ask();
    await reply(atB, next(own, 1), { action: "accept", content: { ok: 7 } });
    await inTurns(() => questionsOn(own).length === 2);
    expect(next(own, 2).params?.message).toMatch(/^Sure\?\n\n\(The answer did not fit\. .*ok/);
    await reply(atB, next(own, 2));
    await inTurns(() => backend.of().answers.length === 1);
  });

  test("and is an error gives it a rest, and gives the client up after the third", async () => {
    const { own, atB, inTurns, clock, atA } = await ask();
    for (let count = 1; count <= 3; count++) {
      await inTurns(() => questionsOn(own).length === count);
      await atB.send({ id: next(own, count).id, error: { code: -32_603, message: "nobody is here" } });
    }
    for (let turn = 0; turn < 60; turn++) await clock.advance(1_000);
    expect(questionsOn(own)).toHaveLength(3);
    // It is no longer told to answer what it cannot.
    expect(JSON.stringify(await atA.request("tasks/list"))).not.toContain("input_required");
  });

  test("but a task of the client is followed by the replica that has asked", async () => {
    const tasks = { requests: { elicitation: { create: {} } } };
    const { own, atA, atB, inTurns, backend } = await ask({ ...form, tasks });
    const created = { taskId: "mine", status: "working", createdAt: "2026-01-01T00:00:00Z", ttl: null };
    await reply(atB, next(own, 1), { task: { ...created, lastUpdatedAt: created.createdAt, pollInterval: 100 } });
    const isOf = (method: string) => (message: Message) => message.method === method;
    await inTurns(() => own.messages.some(isOf("tasks/get")));
    const { id: pollId } = await own.find(isOf("tasks/get"));
    await atB.send({
      id: pollId,
      result: { ...created, status: "completed", lastUpdatedAt: created.createdAt },
    });
    await inTurns(() => own.messages.some(isOf("tasks/result")));
    const { id: resultId } = await own.find(isOf("tasks/result"));
    await atA.send({ id: resultId, result: { action: "accept", content: { ok: true } } });
    await inTurns(() => backend.of().answers.length === 1);
  });

  test("but a page that was opened is opened once", async () => {
    const { atA, atB, b, clock, inTurns, backend } = await open({ elicitation: { url: {} } });
    await callForTask(atA);
    const own = await atA.listen();
    backend.of().ask({ message: "Sign", url: "https://sign.example/1" });
    await reply(atB, await own.find(isElicitation), { action: "accept" });
    await inTurns(() => true);
    for (let turn = 0; turn < 30; turn++) await clock.advance(1_000);
    own.close();
    const again = await atA.at(b.url).listen();
    for (let turn = 0; turn < 5; turn++) await clock.advance(1_000);
    expect(questionsOn(own, again)).toHaveLength(1);
  });
});
