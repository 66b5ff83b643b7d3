import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import * as z from "zod";
import type { Authenticator } from "../../src/index.ts";
import { breakingProxy } from "../breaking-proxy.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { callForTask, form, isElicitation, job, questionsOn, reply, sentOn, yes } from "./task-calls.ts";

afterEach(stopAll);

const question = { message: "Sure?", schema: yes };

const open = async () => {
  const clock = fakeClock();
  const served = await serve({ tools: [job], clock, store: memoryStore({ clock }), fake: { clock } });
  const rpc = await rpc2025(served.url, { capabilities: form });
  const taskId = await callForTask(rpc);
  const answers = () => served.backend.of().answers;
  return { ...served, clock, rpc, taskId, answers };
};

describe("[B-15] a client in the middle of a question", () => {
  test.each([
    ["has lost its stream", true],
    ["has another stream opened while the server thinks that the first is there", false],
  ])("that %s is asked again, and the first answer counts", async (_what, isNoticed) => {
    const { rpc, backend, clock, answers } = await open();
    for (const index of [0, 1]) {
      const before = await rpc.listen();
      backend.of().ask({ ...question, name: `round-${index}` });
      const first = await before.find(isElicitation);
      if (isNoticed) before.close();
      const after = await rpc.listen();
      const second = await after.find(isElicitation);
      expect([second.params, second.id === first.id]).toEqual([first.params, false]);
      // Whichever that is.
      const [given, other] = index === 0 ? [first, second] : [second, first];
      expect(await reply(rpc, given)).toBe(202);
      await eventually(() => answers().length === index + 1);
      const withdrawn = await after.find(({ method }) => method === "notifications/cancelled");
      expect(withdrawn.params).toMatchObject({ requestId: other.id });
      expect(await reply(rpc, other, { action: "decline" })).toBe(202);
      for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
      expect(questionsOn(before, after)).toHaveLength(2);
      expect(sentOn("notifications/cancelled", before, after)).toHaveLength(1);
      after.close();
      await inTime(after.ended);
    }
    expect(answers()).toMatchObject([
      { action: "accept", deliveries: 1 },
      { action: "accept", deliveries: 1 },
    ]);
  });

  test("whose tasks/result is cut is asked again on the session's own stream, and where it waits again no more", async () => {
    const { rpc, backend, clock, answers, taskId } = await open();
    const listening = await rpc.listen();
    const waiting = await rpc.open("tasks/result", { taskId });
    backend.of().ask(question);
    const asked = await waiting.find(isElicitation);
    waiting.close();
    await listening.find(isElicitation);
    const again = await rpc.open("tasks/result", { taskId });
    for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
    expect(questionsOn(waiting, listening, again)).toHaveLength(2);
    await reply(rpc, asked);
    await eventually(() => answers().length === 1);
  });

  test("whose bytes the network has lost is asked again by the way on which its SDK comes back", async () => {
    const { backend, url, answers } = await open();
    const proxy = await breakingProxy(url, "elicitation/create");
    const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: {} } });
    let asked = 0;
    client.setRequestHandler(ElicitRequestSchema, () => {
      asked++;
      return { action: "accept", content: { ok: true } };
    });
    const reconnectionOptions = {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 10,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 5,
    };
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(proxy.url), { reconnectionOptions }) as never);
      const created = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });
      await client.request({ method: "tools/call", params: { name: "job", arguments: {}, task: {} } }, created);
      backend.of().ask(question);
      await eventually(() => answers().length === 1);
      expect([proxy.breaks(), asked]).toEqual([1, 1]);
    } finally {
      await client.close();
      proxy.close();
    }
  });

  test("whose token expires is told no more, and another session of its owner is asked", async () => {
    const clock = fakeClock();
    const auth: Authenticator = {
      authenticate: async ({ authorization }) => {
        const expiry = authorization === "Bearer short" ? { expiresAt: Date.UTC(2026, 0, 1) + 60_000 } : {};
        return { identity: { issuer: "i", subject: "s", ...expiry } };
      },
    };
    const { url, backend } = await serve({ tools: [job], auth, clock, store: memoryStore({ clock }), fake: { clock } });
    const headers = { authorization: "Bearer short" };
    const rpc = await rpc2025(url, { capabilities: form, headers });
    const taskId = await callForTask(rpc);
    const waiting = await rpc.open("tasks/result", { taskId });
    const blind = await (await rpc2025(url, { headers })).open("tasks/result", { taskId });
    backend.of().ask(question);
    await waiting.find(isElicitation);
    const other = await rpc2025(url, { capabilities: form });
    const forOther = await other.open("tasks/result", { taskId });
    await clock.advance(59_000);
    expect(questionsOn(forOther)).toEqual([]);
    await clock.advance(1_000);
    await inTime(Promise.all([waiting.ended, blind.ended]));
    await eventually(async () => {
      await clock.advance(1_000);
      return questionsOn(forOther).length === 1;
    });
    await reply(other, await forOther.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed("done");
    await inTime(forOther.ended);
    expect([...waiting.messages, ...blind.messages].filter(({ id, method }) => id && !method)).toEqual([]);
    expect(forOther.messages.at(-1)).toMatchObject({ result: { isError: false } });
  });
});
