import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/server";
import { form, isElicitation, questionsOn, reply, yes } from "../rev-2025/task-calls.ts";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import type { Answer } from "../rpc-client.ts";
import { eventually, inTime, type ServeOptions, serve, start, stopAll } from "../serve.ts";
import { endOf, handleOf, onClock, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

const question = { message: "Delete 14 files?", schema: yes };
const options: ServeOptions = {
  waitMs: 30_000,
  fake: {
    onStart: (run) => run.ask(question),
    onAnswer: (run, { action, content }) => queueMicrotask(() => run.succeed({ action, content: content ?? null })),
  },
};
const call = { name: "job", arguments: {} };
const statusOf = (taskId: string, waitSeconds = 30) => ({ name: "task_status", arguments: { taskId, waitSeconds } });

const openRaw = async (capabilities: Record<string, unknown> = form) => {
  const { clock, options: clocked } = onClock(options);
  const served = await serve(clocked);
  return { ...served, clock, session: await rpc2025(served.url, { capabilities }) };
};

/** The SDK's client with a user who takes time. */
const openSdk = async (how: "HTTP" | "stdio") => {
  const { clock, options: clocked } = onClock(options);
  const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: {} } });
  const dialogs: { message: string; answer(content: Record<string, boolean>): void; isOpen: boolean }[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => {
    const dialog = { message: params.message, isOpen: true, answer: (_content: Record<string, boolean>) => {} };
    dialogs.push(dialog);
    signal.addEventListener("abort", () => {
      dialog.isOpen = false;
    });
    return new Promise((resolve) => {
      dialog.answer = (content) => resolve({ action: "accept", content });
    });
  });
  const served = await (how === "HTTP" ? serve(clocked) : start(clocked));
  if ("url" in served) {
    await client.connect(new StreamableHTTPClientTransport(new URL(String(served.url))) as never);
  } else {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    void served.server.serveStdio({ transport: theirs as unknown as Transport });
    await client.connect(mine);
  }
  const callTool = async (params: { name: string; arguments: Record<string, unknown> }): Promise<Answer> =>
    ({ result: await client.callTool(params) }) as unknown as Answer;
  return { ...served, clock, client, dialogs, callTool };
};

describe.each(["HTTP", "stdio"] as const)(
  "[D-8] the SDK's client of 2025-11-25 over %s, with a user who takes time",
  (how) => {
    test("is answered with a handle while the dialog is open, which is shown once and answers the task", async () => {
      const { clock, client, dialogs, callTool, backend } = await openSdk(how);
      try {
        await client.listTools();
        const given = await endOf(clock, callTool(call));
        const taskId = handleOf(given);
        expect(textOf(given)).toBe(
          `Task ${taskId} of job waits for the user, who is being asked "Delete 14 files?". Do not answer for them. Once they have answered, call task_status with taskId ${taskId} and waitSeconds 30.`,
        );
        for (let turn = 0; turn < 12; turn++) await clock.advance(10_000);
        const early = await endOf(clock, callTool(statusOf(taskId)));
        expect(textOf(early)).toContain("who is being asked");
        const waiting = callTool(statusOf(taskId));
        await clock.advance(5_000);
        expect(dialogs.map(({ message, isOpen }) => [message, isOpen])).toEqual([["Delete 14 files?", true]]);
        dialogs[0]?.answer({ ok: true });
        const ended = await endOf(clock, waiting);
        expect(textOf(ended)).toContain('{"action":"accept","content":{"ok":true}}');
        expect(backend.of().answers).toMatchObject([{ action: "accept", content: { ok: true }, deliveries: 1 }]);
        expect([dialogs.length, backend.starts()]).toEqual([1, 1]);
      } finally {
        await client.close();
      }
    });

    test("gets the result from the call itself when its user is quick", async () => {
      const { clock, client, dialogs, callTool } = await openSdk(how);
      try {
        const calling = callTool(call);
        await eventually(async () => {
          await clock.settle();
          return dialogs.length === 1;
        });
        dialogs[0]?.answer({ ok: false });
        expect(textOf(await endOf(clock, calling))).toContain('{"ok":false}');
      } finally {
        await client.close();
      }
    });
  },
);

describe("[D-8] a question of a task that a call of a 2025 revision waits for", () => {
  const begin = async ({ session, clock }: { session: Rpc2025; clock: { advance(ms: number): Promise<void> } }) => {
    const calling = await session.open("tools/call", call, { id: "call" });
    const asked = await calling.find(isElicitation);
    await clock.advance(30_000);
    const answered = await calling.find(({ id, method }) => id === "call" && method === undefined);
    await inTime(calling.ended);
    return { calling, asked, taskId: handleOf({ result: answered.result ?? {} } as Answer) };
  };

  test("is not put again by a client without a stream of its own, whose late answer counts", async () => {
    const { session, clock, backend } = await openRaw();
    const { calling, asked, taskId } = await begin({ session, clock });
    // Nobody else is kept from asking for as long.
    for (let turn = 0; turn < 6; turn++) await clock.advance(10_000);
    const waiting = await session.open("tools/call", statusOf(taskId), { id: "status" });
    await clock.advance(5_000);
    expect(questionsOn(calling, waiting)).toHaveLength(1);
    expect(await reply(session, asked)).toBe(202);
    await eventually(() => backend.of().answers.length === 1);
    await clock.advance(30_000);
    const ended = await waiting.find(({ id }) => id === "status");
    expect(textOf({ result: ended.result ?? {} } as Answer)).toContain('{"ok":true}');
    expect(questionsOn(calling, waiting)).toHaveLength(1);
  });

  test("is put again to who asks for the status long afterwards: the dialog may be gone", async () => {
    const { session, clock, backend } = await openRaw();
    const { taskId } = await begin({ session, clock });
    for (let turn = 0; turn < 31; turn++) await clock.advance(10_000);
    const waiting = await session.open("tools/call", statusOf(taskId));
    await reply(session, await waiting.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
  });

  test("is put by another session of the owner that asks for the status meanwhile", async () => {
    const { session, clock, backend, url } = await openRaw();
    const { taskId } = await begin({ session, clock });
    for (let turn = 0; turn < 3; turn++) await clock.advance(10_000);
    const other = await rpc2025(url, { capabilities: form });
    const waiting = await other.open("tools/call", statusOf(taskId));
    await reply(other, await waiting.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
  });

  test("is told at once, with where a person answers it, to a host that can ask nobody", async () => {
    const host = await openHost("2025-11-25", { ...options, waitMs: 45_000 });
    const given = await inTime(host.call("job"));
    const taskId = handleOf(given);
    expect(textOf(given)).toBe(
      `Task ${taskId} of job waits for an answer by a person: "Delete 14 files?". It cannot be given here: ask the user to run \`taskbridge tasks answer ${taskId}\` where the server runs. Once that is done, call task_status with taskId ${taskId} and waitSeconds 45.`,
    );
  });

  test("ends no wait of a host that can ask nobody and was told of it, so that it does not loop", async () => {
    const { session, clock, server } = await openRaw({});
    const given = await session.request("tools/call", call);
    const taskId = handleOf(given);
    const waiting = session.request("tools/call", statusOf(taskId, 45));
    let isAnswered = false;
    void waiting.finally(() => {
      isAnswered = true;
    });
    await clock.advance(40_000);
    expect(isAnswered).toBe(false);
    const { record } = await server.engine.readTask(taskId, { operator: true });
    const key = record.questions[0]?.key ?? "";
    // By the command line.
    await server.engine.answerTask(taskId, { operator: true }, { [key]: { action: "accept", content: { ok: true } } });
    const ended = await endOf(clock, waiting);
    expect(textOf(ended)).toContain("has completed");
  });

  test("that asks for a secret goes to nobody by a form", async () => {
    const schema = { type: "object", properties: { token: { type: "string", format: "password" } } };
    const host = await openHost("2025-11-25", {
      capabilities: form,
      allowModelAnswers: true,
      fake: { onStart: (run) => run.ask({ message: "Token?", schema }) },
    });
    const reported = textOf(await inTime(host.call("job")));
    expect(reported).toContain("taskbridge tasks answer");
    expect(reported).not.toContain("task_answer");
  });
});
