import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { fakeClock } from "@taskbridge/testkit";
import { fakeAdapter } from "@taskbridge/testkit/adapter";
import { type MessageStream, type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { callForTask, form, isElicitation, job, questionsOn, reply, sentOn, yes } from "./task-calls.ts";

const folders: string[] = [];

afterEach(async () => {
  await stopAll();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

const operator = { operator: true } as const;
const question = { message: "Sure?", schema: yes };

const openOne = async () => {
  const clock = fakeClock();
  const served = await serve({ tools: [job], clock, store: memoryStore({ clock }), fake: { clock } });
  return { ...served, clock, rpc: await rpc2025(served.url, { capabilities: form }) };
};

/** A server and two sessions of its one owner, with their own streams open. */
const openTwo = async (capabilities: Record<string, unknown> = form) => {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  const served = await serve({ tools: [job], clock, store, fake: { clock } });
  const [first, second] = [await rpc2025(served.url, { capabilities }), await rpc2025(served.url, { capabilities })];
  const taskId = await callForTask(first);
  const streams = [await first.listen(), await second.listen()] as const;
  // From now on the second has to do with the task as well.
  await second.request("tasks/get", { taskId });
  const claims = async () => {
    const { record } = await served.server.engine.readTask(taskId, operator);
    return record.questions.flatMap(({ state, claim }) => (state === "open" && claim !== undefined ? [claim.by] : []));
  };
  return { ...served, clock, store, first, second, taskId, streams, claims };
};

/** Two servers on one store, each with a session that waits for the same task. */
const openServers = async () => {
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-"));
  folders.push(folder);
  const path = join(folder, "tasks.db");
  const { adapter, backend } = fakeAdapter();
  const servers = [
    await serve({ tools: [job], store: await sqliteStore({ path }), adapters: { fake: adapter } }),
    await serve({ tools: [job], store: await sqliteStore({ path }), adapters: { fake: backend.connect() } }),
  ];
  const sessions = await Promise.all(servers.map(({ url }) => rpc2025(url, { capabilities: form })));
  const taskId = await callForTask(sessions[0] as Rpc2025);
  const waiting = await Promise.all(sessions.map((rpc) => rpc.open("tasks/result", { taskId })));
  return { backend, sessions, waiting };
};

/** Who of the two was asked, and who was not. */
const sortOut = async <Rpc>(streams: readonly MessageStream[], sessions: readonly Rpc[]) => {
  await eventually(() => questionsOn(...streams).length > 0);
  const index = streams.findIndex((stream) => questionsOn(stream).length > 0);
  const other = 1 - index;
  const asked = { rpc: sessions[index] as Rpc, stream: streams[index] as MessageStream };
  return { asked, idle: { rpc: sessions[other] as Rpc, stream: streams[other] as MessageStream } };
};

describe("[B-15] a question is put to one client at a time", () => {
  test("with two tasks/result open at once", async () => {
    const { rpc, backend } = await openOne();
    const taskId = await callForTask(rpc);
    const streams = [await rpc.open("tasks/result", { taskId }), await rpc.open("tasks/result", { taskId })];
    backend.of().ask(question);
    await eventually(() => questionsOn(...streams).length > 0);
    for (const asked of questionsOn(...streams)) await reply(rpc, asked);
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed(1);
    await inTime(Promise.all(streams.map(({ ended }) => ended)));
    expect(questionsOn(...streams)).toHaveLength(1);
  });

  test("with two sessions at once", async () => {
    const { backend, first, second, streams, clock } = await openTwo();
    backend.of().ask(question);
    const { asked } = await sortOut(streams, [first, second]);
    for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
    expect(questionsOn(...streams)).toHaveLength(1);
    await reply(asked.rpc, await asked.stream.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed(1);
    for (const stream of streams) await stream.find(({ params }) => params?.status === "completed");
    expect(questionsOn(...streams)).toHaveLength(1);
    expect(sentOn("notifications/cancelled", ...streams)).toEqual([]);
  });

  test("with two servers on one store", async () => {
    const { backend, sessions, waiting } = await openServers();
    for (let round = 1; round <= 5; round++) {
      const message = `round ${round}`;
      const isRound = ({ params }: Message): boolean => params?.message === message;
      backend.of().ask({ ...question, name: `round-${round}`, message });
      await eventually(() => questionsOn(...waiting).some(isRound));
      for (const [index, rpc] of sessions.entries()) {
        for (const asked of waiting[index]?.messages.filter(isRound) ?? []) await reply(rpc, asked);
      }
      await eventually(() => backend.of().answers.length === round);
    }
    backend.of().succeed(1);
    await inTime(Promise.all(waiting.map(({ ended }) => ended)));
    expect(questionsOn(...waiting)).toHaveLength(5);
  });

  test("and to a client of another server at once when the first one's session ends", async () => {
    const { backend, sessions, waiting } = await openServers();
    backend.of().ask(question);
    const { asked, idle } = await sortOut(waiting, sessions);
    await asked.rpc.end();
    await reply(idle.rpc, await idle.stream.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
  });

  test("and to the next one when whoever was asking has died", async () => {
    const { backend, server, clock, rpc } = await openOne();
    const taskId = await callForTask(rpc);
    backend.of().ask(question);
    await backend.events.settled();
    const { record } = await server.engine.readTask(taskId, operator);
    const key = String(record.questions[0]?.key);
    // As a process leaves it behind that ends before its client has answered.
    const held = await server.engine.claimQuestion(taskId, operator, key, { by: "dead", forMs: 30_000 });
    expect(held.outcome).toBe("held");
    const listening = await rpc.listen();
    await clock.advance(29_000);
    expect(questionsOn(listening)).toEqual([]);
    await clock.advance(2_000);
    await reply(rpc, await listening.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
    expect(questionsOn(listening)).toHaveLength(1);
  });

  test("and to the next one at once when the session ends that was asked", async () => {
    const { backend, first, second, streams } = await openTwo();
    backend.of().ask(question);
    const { asked, idle } = await sortOut(streams, [first, second]);
    expect(await asked.rpc.end()).toBe(200);
    await reply(idle.rpc, await idle.stream.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
    expect(questionsOn(idle.stream)).toHaveLength(1);
  });

  test("and to the next one at once when the client that was asked refuses to put it", async () => {
    const { backend, first, second, streams, clock } = await openTwo();
    backend.of().ask(question);
    const { asked, idle } = await sortOut(streams, [first, second]);
    const { id } = await asked.stream.find(isElicitation);
    await asked.rpc.send({ id, error: { code: -32_603, message: "no user here" } });
    const other = await idle.stream.find(isElicitation);
    await clock.advance(60_000);
    expect(questionsOn(...streams)).toHaveLength(2);
    await reply(idle.rpc, other);
    await eventually(() => backend.of().answers.length === 1);
  });

  test("and nobody else is sent to a page that one has opened", async () => {
    const { backend, first, second, streams, clock } = await openTwo({ elicitation: { url: {} } });
    backend.of().ask({ message: "Sign", url: "https://sign.example/1" });
    const { asked, idle } = await sortOut(streams, [first, second]);
    await reply(asked.rpc, await asked.stream.find(isElicitation), { action: "accept" });
    for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
    expect(questionsOn(...streams)).toHaveLength(1);
    await asked.rpc.end();
    await idle.stream.find(isElicitation);
  });
});
