import { afterEach, describe, expect, test } from "@jest/globals";
import { fakeClock } from "@taskbridge/testkit";
import {
  callForTask,
  form,
  isElicitation,
  questionsOn,
  relatedTo,
  reply,
  sentOn,
  yes,
} from "../rev-2025/task-calls.ts";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime } from "../serve.ts";
import { type FleetOptions, startFleet, stopFleet } from "./fleet.ts";

afterEach(stopFleet);

const question = { message: "Sure?", schema: yes };
const accepted = { action: "accept", content: { ok: true } };

/** Two replicas, and one session at both. */
const open = async (options: FleetOptions = {}, capabilities: Record<string, unknown> = form) => {
  const fleet = await startFleet(2, options);
  const [a, b] = fleet.replicas as [(typeof fleet.replicas)[0], (typeof fleet.replicas)[0]];
  const atA = await rpc2025(a.url, { capabilities });
  return { ...fleet, a, b, atA, atB: atA.at(b.url) };
};

/** The same, with a question before the client, on a stream of A. */
const openAsked = async (how: "its own stream" | "tasks/result", options: FleetOptions = {}) => {
  const fleet = await open(options);
  const { atA, backend } = fleet;
  const taskId = await callForTask(atA);
  const stream = how === "tasks/result" ? await atA.open("tasks/result", { taskId }) : await atA.listen();
  backend.of().ask(question);
  return { ...fleet, taskId, stream, asked: await stream.find(isElicitation) };
};

describe("[H-13] the answer to a question of a task", () => {
  test.each(["its own stream", "tasks/result"] as const)(
    "counts at another replica than the one that has asked on %s",
    async (how) => {
      const { atB, backend, asked, stream, taskId } = await openAsked(how);
      expect(asked.params?._meta).toMatchObject(relatedTo(taskId));
      expect(await reply(atB, asked)).toBe(202);
      await eventually(() => backend.of().answers.length === 1);
      expect(backend.of().answers[0]).toMatchObject(accepted);
      backend.of().succeed(1);
      await stream.find(({ method, result }) => result !== undefined || method === "notifications/tasks/status");
      expect(questionsOn(stream)).toHaveLength(1);
    },
  );

  test("counts once, however often and wherever it is sent", async () => {
    const { atA, atB, backend, asked, taskId } = await openAsked("tasks/result");
    await Promise.all([atB, atA, atB, atA].map((rpc) => reply(rpc, asked)));
    await eventually(() => backend.of().answers.length > 0);
    await reply(atB, asked, { action: "decline" });
    backend.of().succeed(1);
    await eventually(async () => (await atB.request("tasks/get", { taskId })).result.status === "completed");
    expect(backend.of().answers).toHaveLength(1);
  });

  test("counts when the replica that has asked is gone", async () => {
    const { a, atB, backend, asked } = await openAsked("its own stream");
    await inTime(a.server.close());
    await reply(atB, asked);
    await eventually(() => backend.of().answers.length === 1);
  });

  test("is not taken from another session, nor under an ID that nobody was asked with", async () => {
    const { a, b, atA, backend, asked, taskId } = await openAsked("its own stream");
    const others = [await rpc2025(a.url, { capabilities: form }), await rpc2025(b.url, { capabilities: form })];
    for (const rpc of others) expect(await reply(rpc, asked)).toBe(202);
    const id = String(asked.id);
    const forged = [
      0,
      "0",
      1,
      id.slice(0, -1),
      `${id.slice(0, -1)}${id.endsWith("A") ? "B" : "A"}`,
      "",
      "x".repeat(9_000),
    ];
    for (const one of forged) {
      for (const rpc of [atA, atA.at(b.url)]) expect(await rpc.send({ id: one, result: accepted })).toBe(202);
    }
    expect((await atA.request("tasks/get", { taskId })).result.status).toBe("input_required");
    expect(backend.of().answers).toEqual([]);
    await reply(atA, asked);
    await eventually(() => backend.of().answers.length === 1);
  });

  test("that is refused where it is sent is none", async () => {
    const { b, atA, backend, asked, taskId } = await openAsked("its own stream");
    const headers = { "mcp-session-id": atA.sessionId, "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: accepted });
    expect((await fetch(b.url, { method: "POST", headers: { ...headers, accept: "text/html" }, body })).status).toBe(
      406,
    );
    expect((await atA.request("tasks/get", { taskId })).result.status).toBe("input_required");
    expect(backend.of().answers).toEqual([]);
  });
});

test("IDs of requests to a client are never the same twice, and say nothing", async () => {
  const { backend, atA, stream, asked, taskId } = await openAsked("its own stream");
  await reply(atA, asked);
  await eventually(() => backend.of().answers.length === 1);
  backend.of().ask({ ...question, name: "next", message: "Again?" });
  const next = await stream.find(({ params }) => params?.message === "Again?");
  expect(next.id).not.toBe(asked.id);
  expect(String(asked.id)).toMatch(/^[\w-]{40,400}$/);
  expect(Buffer.from(String(asked.id), "base64url").toString("latin1")).not.toContain(taskId);
});

describe("a session whose own stream is at another replica than its calls", () => {
  const statuses = (stream: { messages: readonly Message[] }): readonly unknown[] =>
    stream.messages.flatMap(({ method, params }) => (method === "notifications/tasks/status" ? [params?.status] : []));

  const openApart = async () => {
    const clock = fakeClock();
    const fleet = await open({ clock, fake: { clock } });
    return { ...fleet, clock, own: await fleet.atA.listen() };
  };
  /** Time goes on until it is so: replicas hear of each other in real time, and look in their own. */
  const inTurns = (clock: ReturnType<typeof fakeClock>, isTrue: () => unknown): Promise<void> =>
    eventually(async () => {
      await clock.advance(1_000);
      return isTrue();
    });

  test("is asked on it, and hears the end of its task there", async () => {
    const { atB, own, clock, backend } = await openApart();
    await callForTask(atB);
    backend.of().ask(question);
    await inTurns(clock, () => questionsOn(own).length > 0);
    await reply(atB, questionsOn(own)[0] as Message);
    await inTurns(clock, () => backend.of().answers.length === 1);
    backend.of().succeed(1);
    await inTurns(clock, () => statuses(own).includes("completed"));
    expect(questionsOn(own)).toHaveLength(1);
  });

  test("hears nothing of what other sessions of its owner have begun", async () => {
    const { a, b, own, clock, backend, atB } = await openApart();
    const other = await rpc2025(b.url, { capabilities: form });
    await callForTask(other);
    backend.of().ask(question);
    const theirs = await other.at(a.url).listen();
    await inTurns(clock, () => questionsOn(theirs).length > 0);
    const mine = await callForTask(atB);
    await atB.request("tasks/cancel", { taskId: mine });
    for (let turn = 0; turn < 30; turn++) await clock.advance(1_000);
    expect(questionsOn(own)).toEqual([]);
    expect(sentOn("notifications/tasks/status", own).filter(({ params }) => params?.taskId !== mine)).toEqual([]);
  });

  test("is asked again where its stream comes back, once the replica that had asked is gone", async () => {
    const { a, atB, own, clock, backend, atA } = await openApart();
    await callForTask(atA);
    backend.of().ask(question);
    await inTurns(clock, () => questionsOn(own).length > 0);
    await inTime(a.server.close());
    const next = await atB.listen();
    await inTurns(clock, () => questionsOn(next).length > 0);
    await reply(atB, questionsOn(next)[0] as Message);
    await inTurns(clock, () => backend.of().answers.length === 1);
  });
});

describe("a wait at one replica", () => {
  test("ends when another sees the end", async () => {
    const { atA, atB, backend } = await open();
    const taskId = await callForTask(atA);
    const waits = [await atA.open("tasks/result", { taskId }), await atB.open("tasks/result", { taskId })];
    backend.of().succeed({ files: 14 });
    for (const wait of waits) await wait.find(({ result }) => result !== undefined);
  });

  test("and one at another are asked once together, and the other may answer as well", async () => {
    const { atA, atB, backend } = await open();
    const taskId = await callForTask(atA);
    const rpcs: readonly Rpc2025[] = [atA, atB];
    const waits = await Promise.all(rpcs.map((rpc) => rpc.open("tasks/result", { taskId })));
    backend.of().ask(question);
    await eventually(() => questionsOn(...waits).length > 0);
    expect(questionsOn(...waits)).toHaveLength(1);
    // Whoever was not asked answers.
    const index = waits.findIndex((wait) => questionsOn(wait).length > 0);
    await reply(rpcs[1 - index] as Rpc2025, questionsOn(...waits)[0] as Message);
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed(1);
    for (const wait of waits) await wait.find(({ result }) => result !== undefined);
  });
});
