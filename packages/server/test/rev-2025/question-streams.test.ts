import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { memoryStore } from "@taskbridge/core/memory";
import { BridgeError, type TaskStore } from "@taskbridge/core/store";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { fakeClock } from "@taskbridge/testkit";
import { fakeAdapter } from "@taskbridge/testkit/adapter";
import * as z from "zod";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { callForTask, form, isElicitation, job, questionsOn, relatedTo, reply, sentOn, yes } from "./task-calls.ts";

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
  test("that gives up its tasks/result by a timeout still answers later", async () => {
    const { rpc, backend, clock, answers, taskId } = await open();
    const listening = await rpc.listen();
    const waiting = await rpc.open("tasks/result", { taskId }, { id: 77 });
    backend.of().ask(question);
    const asked = await waiting.find(isElicitation);
    await clock.advance(60_000);
    const reason = "McpError: MCP error -32001: Request timed out";
    await rpc.send({ method: "notifications/cancelled", params: { requestId: 77, reason } });
    await inTime(waiting.ended);
    for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
    expect(questionsOn(waiting, listening)).toHaveLength(1);
    await reply(rpc, asked);
    await eventually(() => answers().length === 1);
    expect(answers()).toMatchObject([{ content: { ok: true }, deliveries: 1 }]);
    expect(sentOn("notifications/cancelled", waiting, listening)).toEqual([]);
    backend.of().succeed("done");
    await eventually(async () => (await rpc.request("tasks/get", { taskId })).result.status === "completed");
    expect((await rpc.request("tasks/result", { taskId })).result._meta).toEqual(relatedTo(taskId));
  });

  test("[B-16] hears on its tasks/result that the question is taken back, before that is answered", async () => {
    const { rpc, backend, taskId, url } = await open();
    const other = await rpc2025(url);
    for (const end of ["cancel", "succeed"]) {
      const id = end === "cancel" ? taskId : await callForTask(rpc);
      const waiting = await rpc.open("tasks/result", { taskId: id }, { id: end });
      backend.of().ask(question);
      const asked = await waiting.find(isElicitation);
      if (end === "cancel") await other.request("tasks/cancel", { taskId: id });
      else backend.of().succeed("anyway");
      await inTime(waiting.ended);
      const reported = waiting.messages.map((message) => message.id ?? message.method);
      expect(reported.filter((it) => it !== "notifications/tasks/status")).toEqual([
        asked.id,
        "notifications/cancelled",
        end,
      ]);
    }
  });

  test("that stays away for longer leaves the question to another, and its late answer does no harm", async () => {
    const { rpc, backend, clock, answers, taskId, url } = await open();
    const before = await rpc.listen();
    const other = await rpc2025(url, { capabilities: form });
    const forOther = await other.open("tasks/result", { taskId });
    // The other waits for its turn, wherever the question goes first.
    backend.of().ask(question);
    await eventually(() => questionsOn(before, forOther).length === 1);
    const wasFirst = questionsOn(before).length === 1;
    const [gone, idle] = wasFirst ? [before, forOther] : [forOther, before];
    const [goneRpc, idleRpc] = wasFirst ? [rpc, other] : [other, rpc];
    const asked = await gone.find(isElicitation);
    gone.close();
    await inTime(gone.ended);
    // A moment, for the server to see the connection go.
    await eventually(async () => {
      await clock.advance(1_000);
      return questionsOn(idle).length === 1;
    });
    await reply(idleRpc, await idle.find(isElicitation));
    await eventually(() => answers().length === 1);
    expect(await reply(goneRpc, asked, { action: "decline" })).toBe(202);
    await backend.events.settled();
    expect(answers()).toMatchObject([{ action: "accept", deliveries: 1 }]);
  });

  test("that stays away for longer may still be the first to answer", async () => {
    const { rpc, backend, clock, answers, taskId, url } = await open();
    const before = await rpc.listen();
    backend.of().ask(question);
    const asked = await before.find(isElicitation);
    before.close();
    await inTime(before.ended);
    await eventually(async () => {
      await clock.advance(5_000);
      return clock.now() > Date.UTC(2026, 0, 1) + 60_000;
    });
    const other = await rpc2025(url, { capabilities: form });
    const waiting = await other.open("tasks/result", { taskId });
    const second = await waiting.find(isElicitation);
    await reply(rpc, asked);
    await eventually(() => answers().length === 1);
    const withdrawn = await waiting.find(({ method }) => method === "notifications/cancelled");
    expect(withdrawn.params).toMatchObject({ requestId: second.id });
    await reply(other, second, { action: "decline" });
    await backend.events.settled();
    expect(answers()).toMatchObject([{ action: "accept", deliveries: 1 }]);
    expect(sentOn("notifications/cancelled", waiting)).toHaveLength(1);
  });

  test("when the server stops is asked once more by the next one, at once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "taskbridge-"));
    try {
      const path = join(folder, "tasks.db");
      const { adapter, backend } = fakeAdapter();
      const first = await serve({ tools: [job], store: await sqliteStore({ path }), adapters: { fake: adapter } });
      const rpc = await rpc2025(first.url, { capabilities: form });
      const listening = await rpc.listen();
      const taskId = await callForTask(rpc);
      const waiting = await rpc.open("tasks/result", { taskId });
      backend.of().ask(question);
      await waiting.find(isElicitation);
      await first.server.close();
      await inTime(Promise.all([waiting.ended, listening.ended]));
      expect(questionsOn(waiting, listening)).toHaveLength(1);
      const store = await sqliteStore({ path });
      const second = await serve({ tools: [job], store, adapters: { fake: backend.connect() } });
      const again = await rpc2025(second.url, { capabilities: form });
      const stream = await again.open("tasks/result", { taskId });
      await reply(again, await stream.find(isElicitation));
      await eventually(() => backend.of().answers.length === 1);
      backend.of().succeed("done");
      await inTime(stream.ended);
      expect(questionsOn(stream)).toHaveLength(1);
      expect(backend.of().cancels).toEqual([]);
    } finally {
      await stopAll();
      await rm(folder, { recursive: true });
    }
  });

  test.each(["HTTP", "stdio"])(
    "over %s gives it back when the server stops, before the store is closed",
    async (how) => {
      const inner = memoryStore();
      let isClosed = false;
      const store: TaskStore = {
        ...inner,
        // As over a network.
        revise: async (record, expectedRevision, options) => {
          for (let turns = 0; turns < 50; turns++) await turn();
          if (isClosed) throw new BridgeError("unavailable", "the store is closed", { operation: "revise" });
          return inner.revise(record, expectedRevision, options);
        },
        close: async () => {
          isClosed = true;
        },
      };
      const { server, backend, url } = await serve({ tools: [job], store });
      const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: {} } });
      let asked = 0;
      client.setRequestHandler(ElicitRequestSchema, () => {
        asked++;
        return new Promise(() => {});
      });
      if (how === "HTTP") await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
      else {
        const [mine, theirs] = InMemoryTransport.createLinkedPair();
        void server.serveStdio({ transport: theirs as never });
        await client.connect(mine);
      }
      const created = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });
      const call = { method: "tools/call" as const, params: { name: "job", arguments: {}, task: {} } };
      const { task } = await client.request(call, created);
      backend.of().ask(question);
      await eventually(() => asked === 1);
      await server.close();
      const record = await inner.read(task.taskId as never);
      expect(record?.questions).toMatchObject([{ state: "open" }]);
      expect(record?.questions[0]).not.toHaveProperty("claim");
      await client.close();
    },
  );
});
