import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { BridgeError, type TaskStore } from "@taskbridge/core/store";
import { fakeClock } from "@taskbridge/testkit";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { callForTask, form, isElicitation, job, questionsOn, reply, yes } from "./task-calls.ts";

afterEach(stopAll);

const question = { message: "Sure?", schema: yes };

const open = async (wrap: (store: TaskStore) => TaskStore = (store) => store) => {
  const clock = fakeClock();
  const served = await serve({ tools: [job], clock, store: wrap(memoryStore({ clock })), fake: { clock } });
  const claims = jest.spyOn(served.server.engine, "claimQuestion");
  const rpc = await rpc2025(served.url, { capabilities: form });
  const stream = await rpc.listen();
  const taskId = await callForTask(rpc);
  /** For longer than the server waits for a client to come back. */
  const stayDisconnected = async () => {
    for (let turn = 0; turn < 4; turn++) await clock.advance(5_000);
  };
  const requireNoMoreClaims = async () => {
    claims.mockClear();
    for (let turn = 0; turn < 6; turn++) await clock.advance(10_000);
    expect(claims).not.toHaveBeenCalled();
  };
  return {
    ...served,
    clock,
    rpc,
    stream,
    taskId,
    stayDisconnected,
    requireNoMoreClaims,
    answers: () => served.backend.of().answers,
  };
};

describe("[B-15] nobody holds a question", () => {
  test("that was answered", async () => {
    const { backend, rpc, stream, answers, requireNoMoreClaims } = await open();
    backend.of().ask(question);
    await reply(rpc, await stream.find(isElicitation));
    await eventually(() => answers().length === 1);
    await requireNoMoreClaims();
  });

  test("that was answered late, wrongly, and then rightly, by a client that had been away", async () => {
    const { backend, rpc, stream, answers, stayDisconnected, requireNoMoreClaims, clock } = await open();
    backend.of().ask(question);
    const asked = await stream.find(isElicitation);
    stream.close();
    await inTime(stream.ended);
    await eventually(async () => {
      await clock.advance(1_000);
      return clock.now() > Date.UTC(2026, 0, 1) + 30_000;
    });
    await reply(rpc, asked, { action: "accept", content: {} });
    await stayDisconnected();
    const again = await rpc.listen();
    await eventually(() => questionsOn(again).length > 0);
    for (let turn = 0; turn < 3; turn++) await clock.advance(10_000);
    for (const second of questionsOn(again)) await reply(rpc, second);
    await eventually(() => answers().length === 1);
    expect(questionsOn(again)).toHaveLength(1);
    expect(questionsOn(again)[0]?.params?.message).toContain("did not fit");
    await requireNoMoreClaims();
  });

  test("whose session has ended", async () => {
    const { backend, rpc, stream, requireNoMoreClaims } = await open();
    backend.of().ask(question);
    await stream.find(isElicitation);
    await rpc.end();
    await inTime(stream.ended);
    await requireNoMoreClaims();
  });

  test("because the store failed for a moment: the client is asked a little later", async () => {
    let failures = 0;
    const { backend, rpc, stream, answers, clock, requireNoMoreClaims } = await open((store) => ({
      ...store,
      revise: async (record, revision, options) => {
        if (failures > 0 && record.questions.some(({ claim }) => claim !== undefined)) {
          failures--;
          throw new BridgeError("unavailable", "the disk is full", { operation: "revise" });
        }
        return store.revise(record, revision, options);
      },
    }));
    failures = 1;
    backend.of().ask(question);
    await backend.events.settled();
    await eventually(() => failures === 0);
    await eventually(async () => {
      await clock.advance(5_000);
      return questionsOn(stream).length === 1;
    });
    await reply(rpc, await stream.find(isElicitation));
    await eventually(() => answers().length === 1);
    await requireNoMoreClaims();
  });

  test("that cannot be given back for a moment, and a late answer still counts", async () => {
    let isFailing = false;
    const { backend, rpc, stream, answers, clock, requireNoMoreClaims } = await open((store) => ({
      ...store,
      revise: async (...revision) => {
        if (isFailing) throw new BridgeError("unavailable", "the disk is full", { operation: "revise" });
        return store.revise(...revision);
      },
    }));
    backend.of().ask(question);
    const asked = await stream.find(isElicitation);
    isFailing = true;
    stream.close();
    await inTime(stream.ended);
    await eventually(async () => {
      await clock.advance(1_000);
      return clock.now() > Date.UTC(2026, 0, 1) + 60_000;
    });
    isFailing = false;
    await reply(rpc, asked);
    await eventually(() => answers().length === 1);
    await requireNoMoreClaims();
  });
});
