import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { BridgeError, type TaskStore } from "@taskbridge/core/store";
import { fakeClock } from "@taskbridge/testkit";
import { rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { send } from "./session-calls.ts";
import { callForTask, form, isElicitation, job, questionsOn, reply, sentOn, yes } from "./task-calls.ts";

afterEach(stopAll);

const question = { message: "Sure?", schema: yes };

/** A task as its session sees it that was asked in vain. */
const inVain = { status: "working", statusMessage: "waits for an answer that this client did not give: Sure?" };
const isUnheededNotice = ({ method, params }: Message): boolean =>
  method === "notifications/tasks/status" && params?.statusMessage === inVain.statusMessage;

/** Too deep for a test to write with what it has. */
const deep = "[".repeat(30_000) + "]".repeat(30_000);

/** A task that has just asked, and the stream on which its client was. */
const ask = async (options: ServeOptions & { readonly wrap?: (store: TaskStore) => TaskStore } = {}) => {
  const { wrap = (store) => store, ...rest } = options;
  const clock = fakeClock();
  const served = await serve({
    tools: [job],
    clock,
    store: wrap(memoryStore({ clock })),
    ...rest,
    fake: { clock, ...rest.fake },
  });
  const rpc = await rpc2025(served.url, { capabilities: form });
  const stream = await rpc.listen();
  const taskId = await callForTask(rpc);
  served.backend.of().ask(question);
  const asked = await stream.find(isElicitation);
  const shown = async () => (await rpc.request("tasks/get", { taskId })).result;
  const status = async () => (await shown()).status;
  const answers = () => served.backend.of().answers;
  /** The next question that comes. */
  const next = async (count: number) => {
    await eventually(() => questionsOn(stream).length === count);
    return questionsOn(stream).at(-1) ?? asked;
  };
  const cancelled = () => sentOn("notifications/cancelled", stream);
  return { ...served, clock, stream, taskId, asked, shown, status, answers, next, cancelled, session: rpc };
};

describe("an answer to a question", () => {
  test("[B-6] that declines reaches the backend", async () => {
    const { session, asked, answers, status, stream } = await ask();
    await reply(session, asked, { action: "decline" });
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ action: "decline" });
    await eventually(async () => (await status()) === "working");
    expect(questionsOn(stream)).toHaveLength(1);
  });

  test("that dismisses it has it asked again, as often as the server allows, and then it counts", async () => {
    const { session, asked, answers, next, stream, clock } = await ask({ limits: { maxReasks: 2 } });
    let latest = asked;
    for (let count = 1; count <= 3; count++) {
      latest = await next(count);
      await reply(session, latest, { action: "cancel" });
    }
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ action: "cancel" });
    await clock.advance(60_000);
    expect(questionsOn(stream)).toHaveLength(3);
  });

  test("that does not fit is asked for again, saying why, and the client is given up after three", async () => {
    const { session, asked, answers, next, clock, shown, stream, url, taskId } = await ask();
    await reply(session, asked, { action: "accept", content: { ok: "certainly" } });
    const second = await next(2);
    expect(second.params?.message).toMatch(/^Sure\?\n\n.*did not fit.*ok/s);
    await reply(session, second, { action: "accept", content: {} });
    const third = await next(3);
    expect(third.params?.message).toMatch(/^Sure\?\n\n/);
    await reply(session, third, { result: "yes" });
    await clock.advance(60_000);
    expect(questionsOn(stream)).toHaveLength(3);
    expect(answers()).toEqual([]);
    expect(await shown()).toMatchObject(inVain);
    await stream.find(isUnheededNotice);
    // The question stays open for others.
    const other = await rpc2025(url, { capabilities: form });
    expect((await other.request("tasks/get", { taskId })).result.status).toBe("input_required");
    const waiting = await other.open("tasks/result", { taskId });
    const forOther = await waiting.find(isElicitation);
    expect(forOther.params?.message).toBe("Sure?");
    await reply(other, forOther);
    await eventually(() => answers().length === 1);
  });

  test("that fits on the second try counts", async () => {
    const { session, asked, answers, next } = await ask();
    await reply(session, asked, { action: "accept", content: { ok: 1 } });
    await reply(session, await next(2));
    await eventually(() => answers().length === 1);
    expect(answers()[0]).toMatchObject({ content: { ok: true } });
  });

  test("counts once, however often it is sent", async () => {
    const { session, asked, answers, backend } = await ask();
    await Promise.all([reply(session, asked), reply(session, asked)]);
    expect(await reply(session, asked, { action: "decline" })).toBe(202);
    await eventually(() => answers().length === 1);
    await backend.events.settled();
    expect(answers()).toMatchObject([{ action: "accept", deliveries: 1 }]);
  });

  test("after the task was cancelled changes nothing", async () => {
    const { session, asked, answers, taskId, cancelled, status } = await ask();
    const { result } = await session.request("tasks/cancel", { taskId });
    expect(result.status).toBe("cancelled");
    await eventually(() => cancelled().length === 1);
    expect(await reply(session, asked)).toBe(202);
    expect(answers()).toEqual([]);
    expect(await status()).toBe("cancelled");
    expect(cancelled()).toHaveLength(1);
  });

  test("[B-16] given on another wire takes the question back from the client, once", async () => {
    const { session, asked, answers, rpc, taskId, cancelled } = await ask();
    const modern = { capabilities: { elicitation: {} } };
    const { inputRequests } = (await rpc("tasks/get", { taskId }, modern)).result as { inputRequests: object };
    const [key = ""] = Object.keys(inputRequests);
    await rpc(
      "tasks/update",
      { taskId, inputResponses: { [key]: { action: "accept", content: { ok: false } } } },
      modern,
    );
    await eventually(() => cancelled().length === 1);
    expect(cancelled()[0]?.params).toMatchObject({ requestId: asked.id });
    expect(await reply(session, asked)).toBe(202);
    await eventually(() => answers().length === 1);
    expect(answers()).toMatchObject([{ content: { ok: false }, deliveries: 1 }]);
    expect(cancelled()).toHaveLength(1);
  });

  test("that does not come before the question's deadline is no longer waited for", async () => {
    const tools = [{ ...job, task: { ...job.task, questionTimeoutMs: 60_000 } }];
    const { session, asked, answers, clock, cancelled, status, stream } = await ask({ tools });
    await clock.advance(61_000);
    await eventually(() => cancelled().length === 1);
    await eventually(() => answers().length === 1);
    await reply(session, asked);
    await eventually(async () => (await status()) === "working");
    expect(answers()).toMatchObject([{ action: "cancel", deliveries: 1 }]);
    expect(questionsOn(stream)).toHaveLength(1);
  });

  test("is not lost when the store fails for a moment, even if the client leaves meanwhile", async () => {
    let isFailing = false;
    const wrap = (store: TaskStore): TaskStore => ({
      ...store,
      revise: async (...args) => {
        if (isFailing) throw new BridgeError("unavailable", "the disk is full", { operation: "revise" });
        return store.revise(...args);
      },
    });
    const { session, asked, answers, clock, stream } = await ask({ wrap });
    isFailing = true;
    await reply(session, asked);
    await clock.advance(1_000);
    await session.end();
    await inTime(stream.ended);
    await clock.advance(1_000);
    expect(answers()).toEqual([]);
    isFailing = false;
    await clock.advance(1_000);
    await eventually(() => answers().length === 1);
    expect(answers()).toMatchObject([{ content: { ok: true }, deliveries: 1 }]);
  });

  test("of a client that cannot put questions leaves it open, and the client is not asked again", async () => {
    const { session, asked, clock, stream, shown, answers } = await ask();
    await session.send({ id: asked.id, error: { code: -32_601, message: "Method not found" } });
    for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
    expect(questionsOn(stream)).toHaveLength(1);
    expect(await shown()).toMatchObject(inVain);
    expect(sentOn("notifications/tasks/status", stream).filter(isUnheededNotice)).toHaveLength(1);
    expect(answers()).toEqual([]);
  });
});

describe("a client that fails to put a question", () => {
  const broken = { error: { code: -32_603, message: "no window; the answer was hunter2" } };

  test("is asked once more after ten seconds, and then its answer counts", async () => {
    const { session, asked, clock, stream, status, answers, next } = await ask();
    const failedAt = clock.now();
    await session.send({ id: asked.id, ...broken });
    expect(await status()).toBe("input_required");
    await clock.advance(9_000);
    expect(questionsOn(stream)).toHaveLength(1);
    await eventually(async () => {
      await clock.advance(1_000);
      return questionsOn(stream).length > 1;
    });
    expect(clock.now() - failedAt).toBeGreaterThanOrEqual(10_000);
    const again = await next(2);
    expect(again.params).toEqual(asked.params);
    await reply(session, again);
    await eventually(() => answers().length === 1);
    await clock.advance(60_000);
    expect(answers()).toMatchObject([{ content: { ok: true }, deliveries: 1 }]);
    expect(questionsOn(stream)).toHaveLength(2);
  });

  test.each([
    ["an error", JSON.stringify(broken)],
    ["an answer that is far too deep", `{"result":{"action":"accept","content":{"ok":${deep}}}}`],
  ])("with %s is given up after three times, and is told so", async (_what, failure) => {
    const { session, clock, stream, shown, answers, next, rpc, taskId, url } = await ask();
    const headers = { "mcp-session-id": session.sessionId };
    for (let count = 1; count <= 3; count++) {
      const { id } = await next(count);
      expect(await shown()).toMatchObject({ status: "input_required" });
      const body = failure.replace("{", `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`);
      expect((await send(url, { headers, body })).status).toBe(202);
      if (count === 3) break;
      // The pause begins when the failure has been noticed.
      await eventually(async () => {
        await clock.advance(1_000);
        return questionsOn(stream).length > count;
      });
    }
    await eventually(async () => (await shown()).status === "working");
    expect(await shown()).toMatchObject(inVain);
    await stream.find(isUnheededNotice);
    await clock.advance(120_000);
    expect(questionsOn(stream)).toHaveLength(3);
    expect(answers()).toEqual([]);
    // Others see it open as before.
    const modern = { capabilities: { elicitation: {} } };
    expect((await rpc("tasks/get", { taskId }, modern)).result).toMatchObject({ status: "input_required" });
  });

  test("says why to itself: nothing of it is logged", async () => {
    const lines: string[] = [];
    const note = (fields: object, message: string): void => void lines.push(`${message} ${inspect(fields)}`);
    const { session, asked, clock, next } = await ask({ log: { debug: note, info: note, warn: note, error: note } });
    await session.send({ id: asked.id, ...broken });
    await eventually(() => lines.some((line) => /^a client cannot answer a question.*-32603/s.test(line)));
    await clock.advance(11_000);
    await next(2);
    expect(lines.join("\n")).not.toMatch(/hunter2|no window/);
  });
});
