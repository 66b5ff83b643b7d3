import { inputRequired } from "@modelcontextprotocol/server";
import type { Prepare } from "@taskbridge/core";
import type { Message } from "../rpc-client.ts";
import { eventually } from "../serve.ts";
import { type Client20251125, callAsTask, type Session20251125 } from "./client-2025-11-25.ts";
import type { Reply } from "./conversation.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const list = { type: "array", items: { type: "integer" } };

/** Answers the request of the server that comes next on a stream. */
const answerNext = async (session: Session20251125, stream: Reply, result: Record<string, unknown>): Promise<void> => {
  const asked = await stream.next();
  await session.notify({ id: asked?.id, result });
};
const accept = (content: object): Record<string, unknown> => ({ action: "accept", content });

const onResult: Scenario<Client20251125> = {
  name: "question-on-tasks-result",
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const taskId = await callAsTask(session);
    backend.of().ask({ message: "Delete 14 files?", schema: yes });
    await settle();
    await session.request("tasks/get", { taskId });
    const stream = await session.open("tasks/result", { taskId });
    await answerNext(session, stream, accept({ ok: "yes" }));
    await clock.advance(1_000);
    await answerNext(session, stream, accept({ ok: true }));
    await eventually(() => backend.of().answers.length === 1);
    await stream.next();
    await settle();
    await session.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().ask({ message: "Which?", schema: list });
    for (const _sent of ["status", "question"]) await stream.next();
    await clock.advance(1_000);
    backend.of().withdraw();
    await stream.next();
    // While a message is on its way to the client, others wait.
    await clock.advance(1_000);
    await stream.next();
    backend.of().succeed("deleted");
    await settle();
    await stream.rest();
  },
};

const onOwnStream: Scenario<Client20251125> = {
  name: "question-on-the-own-stream",
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const own = await session.listen();
    const taskId = await callAsTask(session);
    await clock.advance(1_000);
    backend.of().ask({ message: "Which?", schema: list });
    const sent = [await own.next(), await own.next()];
    const question = sent.find((message) => message?.id !== undefined);
    await session.notify({ id: question?.id, result: { action: "decline" } });
    await eventually(() => backend.of().answers.length === 1);
    await settle();
    await session.request("tasks/get", { taskId });
    own.leave();
  },
};

const form = { properties: { name: { type: "string" as const } }, required: ["name"] };

/** Asks for a name before anything starts. */
const prepare: Prepare = (input, { who }) => {
  const schema = { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] };
  if (who === undefined) return { questions: { who: { message: "Who?", schema } } };
  return who.action === "accept" ? { input } : { refused: "No name, no job." };
};

const before: Scenario<Client20251125> = {
  name: "question-before-the-task",
  options: { tools: [fakeTool("job", { prepare })] },
  play: async ({ client }) => {
    const session = await client.connect();
    const call = (more: object) => session.open("tools/call", { name: "job", arguments: {}, ...more });
    const stream = await call({ task: {} });
    await answerNext(session, stream, accept({ name: "" }));
    await answerNext(session, stream, accept({ name: "Ada" }));
    await stream.rest();
    for (const more of [{ task: {} }, {}]) {
      const refused = await call(more);
      await answerNext(session, refused, { action: "decline" });
      await refused.rest();
    }
    const mute = await client.connect({ capabilities: {} });
    for (const more of [{ task: {} }, {}]) await mute.request("tools/call", { name: "job", arguments: {}, ...more });
  },
};

const ordinary: Scenario<Client20251125> = {
  name: "question-of-an-ordinary-tool",
  options: {
    plainTools: [
      {
        name: "rename",
        inputSchema: { type: "object" },
        call: async (_input, { inputResponses, readState, mintState }) => {
          if (inputResponses !== undefined) {
            return { content: [{ type: "text", text: JSON.stringify([inputResponses, readState()]) }] };
          }
          const to = inputRequired.elicit({ message: "To what?", requestedSchema: { ...form, type: "object" } });
          return inputRequired({ inputRequests: { to }, requestState: await mintState({ round: 1 }) });
        },
      },
    ],
  },
  play: async ({ client }) => {
    const session = await client.connect();
    const stream = await session.open("tools/call", { name: "rename" });
    await answerNext(session, stream, accept({ name: "b.txt" }));
    await stream.rest();
  },
};

const withheld: Scenario<Client20251125> = {
  name: "question-withheld",
  play: async ({ client, backend, settle }) => {
    const mute = await client.connect({ capabilities: {} });
    const taskId = await callAsTask(mute);
    backend.of().ask({ message: "Delete 14 files?", schema: yes });
    backend.of().ask({ message: "Approve", url: "https://ci.example.com/7" });
    await settle();
    await mute.request("tasks/get", { taskId });
    const browser = await client.connect({ capabilities: { elicitation: { url: {} } } });
    await browser.request("tasks/get", { taskId });
    const stream = await browser.open("tasks/result", { taskId });
    await answerNext(browser, stream, { action: "accept" });
    await settle();
    await browser.request("tasks/get", { taskId });
    stream.leave();
  },
};

const clientTasks = { requests: { elicitation: { create: {} } }, cancel: {} };

const asTask: Scenario<Client20251125> = {
  name: "question-as-a-task-of-the-client",
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect({ capabilities: { elicitation: {}, tasks: clientTasks } });
    const own = await session.listen();
    const taskId = await callAsTask(session);
    const times = { createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z", ttl: 60_000 };
    const task = { taskId: "mine-1", status: "working", ...times, pollInterval: 2_000 };
    /** The server's next request; what it tells beside is of no interest. */
    const asked = async (): Promise<Message> => {
      for (;;) {
        const message = await own.next();
        if (message === undefined) throw new Error("the stream has ended");
        if (message.id !== undefined) return message;
      }
    };
    const answer = async (result: Record<string, unknown>): Promise<void> =>
      session.notify({ id: (await asked()).id, result });
    backend.of().ask({ message: "Delete 14 files?", schema: yes });
    await answer({ task });
    await settle();
    await clock.advance(2_000);
    await answer(task);
    await settle();
    await clock.advance(2_000);
    await answer({ ...task, status: "completed" });
    await answer(accept({ ok: true }));
    await eventually(() => backend.of().answers.length === 1);
    await settle();
    await session.request("tasks/get", { taskId });
    await clock.advance(1_000);
    backend.of().ask({ message: "Really?" });
    await answer({ task: { ...task, taskId: "mine-2" } });
    await settle();
    await session.request("tasks/cancel", { taskId });
    await answer({ ...task, taskId: "mine-2", status: "cancelled" });
    own.leave();
  },
};

const toModel: Scenario<Client20251125> = {
  name: "question-to-the-model",
  options: { allowModelAnswers: true },
  play: async ({ client, backend, settle }) => {
    const session = await client.connect({ capabilities: { sampling: {} } });
    const taskId = await callAsTask(session);
    backend.of().ask({ message: "Which?", schema: list });
    await settle();
    await session.request("tasks/get", { taskId });
    const stream = await session.open("tasks/result", { taskId });
    const content = { type: "text", text: "[1,2]" };
    await answerNext(session, stream, { role: "assistant", model: "test", content });
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed("deleted");
    await settle();
    await stream.rest();
  },
};

/** What is asked, and how it is answered. */
export const questions20251125: readonly Scenario<Client20251125>[] = [
  onResult,
  onOwnStream,
  before,
  ordinary,
  withheld,
  asTask,
  toModel,
];
