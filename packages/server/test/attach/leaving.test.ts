import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { type FakeClock, fakeClock } from "@taskbridge/testkit";
import * as z from "zod";
import { attachTasks, type TaskServer } from "../../src/index.ts";
import { internalsOf } from "../../src/task-server-internals.ts";
import { eventually, inTime, start, stopAll } from "../serve.ts";
import { connectHttp, connectLinked, createClient, hangUp, serveSessions } from "./connect-v1.ts";
import { connectFetch, type Fetch, serveSessionsV2 } from "./connect-v2.ts";
import { createHostV1 } from "./host-v1.ts";
import { createHostV2 } from "./host-v2.ts";
import { answerOurs } from "./our-calls-v1.ts";
import { ourFake, ourTools } from "./our-pipelines.ts";

afterEach(hangUp);
afterEach(stopAll);

type Post = (init: RequestInit) => Promise<Response>;

/** Connects a client in a session over HTTP, and gives how to send into it by hand. */
type Connect = (tasks: TaskServer) => Promise<{ connect(client: Client): Promise<void>; post: Post }>;

const sessions: Readonly<Record<string, Connect>> = {
  "SDK v1": async (tasks) => {
    const url = await serveSessions(() => {
      const host = createHostV1();
      attachTasks(host, tasks, { owners: "local" });
      return host;
    });
    return { connect: (client) => connectHttp(url, client), post: (init) => fetch(url, init) };
  },
  "SDK v2": async (tasks) => {
    const handle: Fetch = serveSessionsV2(() => {
      const host = createHostV2();
      attachTasks(host, tasks, { owners: "local" });
      return host;
    });
    return {
      connect: (client) => connectFetch(handle, client),
      post: (init) => handle(new Request("http://localhost/mcp", init)),
    };
  },
};
const kinds = Object.keys(sessions);

const setUp = async (kind: string, clock?: FakeClock) => {
  const { server, backend } = await start({
    tools: ourTools,
    fake: { ...ourFake, ...(clock === undefined ? {} : { clock }) },
    ...(clock === undefined ? {} : { clock }),
  });
  const waits = jest.spyOn(internalsOf(server, "test").serve.engine, "waitForTask");
  const served = await sessions[kind]?.(server);
  if (served === undefined) throw new Error("no session");
  return { server, backend, waits, ...served };
};

const create = async (client: Client, name: string): Promise<string> => {
  const schema = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });
  const { task } = await client.request({ method: "tools/call", params: { name, arguments: {}, task: {} } }, schema);
  return task.taskId;
};

const sessionOf = ({ transport }: Client): string => String(transport?.sessionId);

/** Asks for a result by hand; `leave` cuts the connection without a word. */
const waitByHand = async (post: Post, client: Client, taskId: string) => {
  const leaving = new AbortController();
  const response = await post({
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": sessionOf(client),
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: "by-hand", method: "tasks/result", params: { taskId } }),
    signal: leaving.signal,
  });
  const reader = response.body?.getReader();
  const leave = async (): Promise<void> => {
    leaving.abort();
    await reader?.cancel().catch(() => {});
  };
  return { leave };
};

describe("[B-20] a client that leaves in the middle of tasks/result", () => {
  test.each(kinds)("by cutting its connection ends the wait, not the task: %s", async (kind) => {
    const clock = fakeClock();
    const { backend, waits, connect, post } = await setUp(kind, clock);
    const client = createClient();
    await connect(client);
    const taskId = await create(client, "our-slow");
    const { leave } = await waitByHand(post, client, taskId);
    await eventually(() => waits.mock.calls.length === 1);
    const signal = waits.mock.calls[0]?.[2]?.signal;
    await clock.advance(5_000);
    expect(signal?.aborted).toBe(false);
    await leave();
    await eventually(async () => {
      await clock.advance(1_000);
      return signal?.aborted;
    });
    await Promise.allSettled(waits.mock.results.map(({ value }) => value));
    expect(backend.of().cancels).toEqual([]);
    expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({ status: "working" });
    backend.of().succeed({ files: 14 });
    await eventually(async () => (await client.experimental.tasks.getTask(taskId)).status === "completed");
    const result = await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    expect(result.content).toMatchObject([{ text: expect.stringContaining("14") }]);
  });

  test.each(kinds)("by a cancellation of its own request ends the wait, not the task: %s", async (kind) => {
    const { backend, waits, connect } = await setUp(kind);
    const client = createClient();
    await connect(client);
    const taskId = await create(client, "our-slow");
    const giveUp = new AbortController();
    const waiting = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema, { signal: giveUp.signal });
    await eventually(() => waits.mock.calls.length === 1);
    giveUp.abort();
    await expect(waiting).rejects.toThrow();
    await eventually(() => waits.mock.calls[0]?.[2]?.signal?.aborted);
    expect(backend.of().cancels).toEqual([]);
    expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({ status: "working" });
  });

  test.each(kinds)("by ending its session ends the wait, not the task: %s", async (kind) => {
    const { backend, waits, connect } = await setUp(kind);
    const [client, other] = [createClient(), createClient()];
    await connect(client);
    await connect(other);
    const taskId = await create(client, "our-slow");
    const waiting = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    waiting.catch(() => {});
    await eventually(() => waits.mock.calls.length === 1);
    await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await eventually(() => waits.mock.calls[0]?.[2]?.signal?.aborted);
    await client.close();
    await expect(waiting).rejects.toThrow();
    expect(backend.of().cancels).toEqual([]);
    expect(await other.experimental.tasks.getTask(taskId)).toMatchObject({ status: "working" });
  });

  test("by closing its pipe ends the wait, not the task", async () => {
    const { server, backend, waits } = await setUp("SDK v1");
    const host = createHostV1();
    attachTasks(host, server);
    const client = createClient();
    await connectLinked(host, client);
    const taskId = await create(client, "our-slow");
    const waiting = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    waiting.catch(() => {});
    await eventually(() => waits.mock.calls.length === 1);
    await client.close();
    await expect(waiting).rejects.toThrow();
    await eventually(() => waits.mock.calls[0]?.[2]?.signal?.aborted);
    expect(backend.of().cancels).toEqual([]);
  });
});

describe("[B-15] a question", () => {
  const ways = kinds.flatMap((kind) => [
    [kind, "while it waits"],
    [kind, "after it has given up waiting"],
  ]);

  test.each(ways)("whose client is gone is put to the next one: %s, %s", async (kind, way) => {
    const clock = fakeClock();
    const { backend, connect } = await setUp(kind, clock);
    const leaver = createClient({ elicitation: {} });
    let asked = 0;
    leaver.setRequestHandler(ElicitRequestSchema, () => {
      asked++;
      return new Promise(() => {});
    });
    await connect(leaver);
    const taskId = await create(leaver, "our-asking");
    const giveUp = new AbortController();
    const waiting = leaver.experimental.tasks.getTaskResult(taskId, CallToolResultSchema, { signal: giveUp.signal });
    waiting.catch(() => {});
    await eventually(async () => {
      await clock.advance(100);
      return asked === 1;
    });
    if (way.startsWith("after")) giveUp.abort();
    await leaver.close();
    const next = createClient({ elicitation: {} });
    answerOurs(next);
    await connect(next);
    let isOver = false;
    const answer = next.experimental.tasks.getTaskResult(taskId, CallToolResultSchema).finally(() => {
      isOver = true;
    });
    answer.catch(() => {});
    await eventually(async () => {
      await clock.advance(1_000);
      return isOver;
    });
    expect((await answer).content).toMatchObject([{ text: expect.stringContaining('"ok":true') }]);
    expect(backend.of().answers).toHaveLength(1);
  });

  test.each(kinds)(
    "[B-14] reaches a client that only polls on its session's own stream, and so does the status: %s",
    async (kind) => {
      const { backend, connect } = await setUp(kind);
      const client = createClient({ elicitation: {} });
      answerOurs(client);
      const reported: string[] = [];
      client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void reported.push(params.status));
      await connect(client);
      const taskId = await create(client, "our-asking");
      await eventually(async () => (await client.experimental.tasks.getTask(taskId)).status === "completed");
      expect(backend.of().answers).toHaveLength(1);
      await eventually(() => reported.at(-1) === "completed");
    },
  );

  test.each(kinds)("of two clients goes to one, and both get the result: %s", async (kind) => {
    const { backend, connect } = await setUp(kind);
    const clients = [createClient({ elicitation: {} }), createClient({ elicitation: {} })];
    let asked = 0;
    for (const client of clients) {
      client.setRequestHandler(ElicitRequestSchema, () => {
        asked++;
        return { action: "accept", content: { ok: true } };
      });
      await connect(client);
    }
    const taskId = await create(clients[0] as Client, "our-asking");
    const answers = clients.map((client) => client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema));
    const [first, second] = await inTime(Promise.all(answers));
    expect(first).toEqual(second);
    expect([asked, backend.of().answers.length]).toEqual([1, 1]);
  });
});
